// Verifies the hashes of HASH_VECTORS. It runs in the bundle while the application is built, and its response is a file
// of the build.
import { createPasswordCheck, hashPassword, parsePasswordHash } from '@grantry/users/password-hash'

export const dynamic = 'force-static'

export async function GET() {
  const { password, hashes } = JSON.parse(process.env.HASH_VECTORS)
  const all = Object.entries({ ...hashes, own: await hashPassword(password) })
  const failed = await Promise.all(
    all.map(async ([name, text]) => {
      const hash = parsePasswordHash(text)
      const check = createPasswordCheck()
      return (await check(password, hash)) && !(await check('wrong', hash)) ? [] : [name]
    }),
  )
  return Response.json({ verified: all.length, failed: failed.flat() })
}

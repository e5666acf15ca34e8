import { createPasswordCheck, hashPassword, parsePasswordHash } from '@grantry/users/password-hash'
import { foreignHashes, password } from '../../users/hash-vectors.ts'

/** Verifies hashes of other programs, and a new one. Returns the names of those that fail. */
export async function verifyForeignHashes() {
  const hashes = Object.entries({ ...foreignHashes, own: await hashPassword(password) })
  const failed = await Promise.all(
    hashes.map(async ([name, text]) => {
      const hash = parsePasswordHash(text)
      const check = createPasswordCheck()
      return (await check(password, hash)) && !(await check('wrong', hash)) ? [] : [name]
    }),
  )
  return { verified: hashes.length, failed: failed.flat() }
}

// Verifies hashes of other programs, also many at the same time, and prints the names of those that fail.
import { createPasswordCheck, hashPassword, parsePasswordHash } from '@grantry/users/password-hash'
import { foreignHashes, password } from '../../users/hash-vectors.ts'

const hashes = Object.entries({ ...foreignHashes, own: await hashPassword(password) })
const failed = await Promise.all(
  hashes.map(async ([name, text]) => {
    const hash = parsePasswordHash(text)
    const check = createPasswordCheck()
    return (await check(password, hash)) && !(await check('wrong', hash)) ? [] : [name]
  }),
)
// The process ends by itself, although threads wait for more.
process.stdout.write(JSON.stringify({ verified: hashes.length, failed: failed.flat() }))

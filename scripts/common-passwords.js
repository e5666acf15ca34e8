// Makes the Bloom filter of common passwords: node scripts/common-passwords.js LIST.json
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

/** The shortest password that a user can have. */
const shortest = 8
const rate = 0.0001

const [list] = process.argv.slice(2)
const passwords = new Set(
  JSON.parse(readFileSync(list, 'utf8'))
    .map((password) => password.normalize('NFKC').toLowerCase())
    .filter((password) => [...password].length >= shortest),
)
const size = Math.ceil((passwords.size * -Math.log(rate)) / Math.LN2 ** 2 / 8) * 8
const hashes = Math.round((size / passwords.size) * Math.LN2)
const filter = Buffer.alloc(size / 8)
for (const password of passwords) {
  const digest = createHash('sha256').update(password).digest()
  const [first, step] = [digest.readUInt32BE(0), digest.readUInt32BE(4)]
  for (let index = 0; index < hashes; index += 1) {
    const bit = (first + index * step) % size
    filter[bit >> 3] |= 1 << (bit & 7)
  }
}
writeFileSync(
  'packages/users/src/common-passwords/filter.ts',
  `// Made by scripts/common-passwords.js from the list of @zxcvbn-ts/language-common (MIT), ${passwords.size} passwords.\nexport const filter = {\n  size: ${size},\n  hashes: ${hashes},\n  base64: '${filter.toString('base64')}',\n}\n`,
)
process.stdout.write(`${passwords.size} passwords, ${size / 8} bytes, ${hashes} hashes\n`)

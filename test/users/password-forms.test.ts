// A password is one password in every form in which devices send it, and hashes of others are checked as typed, too.
import { scryptSync } from 'node:crypto'
import { createPasswordCheck, type Derive, hashPassword, parsePasswordHash } from '@grantry/users/password-hash'
import { expect, test } from 'vitest'

const typed = 'caf\u00e9 au lait'
const decomposed = typed.normalize('NFD')
const spaced = typed.replaceAll(' ', '\u00a0')

/** The hash of a program that hashes what was typed. */
function foreignHash(password: string) {
  const salt = Buffer.from('salt of another program')
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replaceAll('=', '')
  return parsePasswordHash(
    `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 }))}`,
  )
}

test('a password that was chosen in one form is right in each', async () => {
  const hash = parsePasswordHash(await hashPassword(decomposed))
  const check = createPasswordCheck()
  for (const form of [typed, decomposed, spaced]) expect(await check(form, hash)).toBe(true)
  expect(await check(`${typed} `, hash)).toBe(false)
})

test.each([typed, decomposed, spaced])(
  'the hash of another program of %j is right as it was typed there',
  async (chosen) => {
    const check = createPasswordCheck()
    expect(await check(chosen, foreignHash(chosen))).toBe(true)
    expect(await check('cafe au lait', foreignHash(chosen))).toBe(false)
  },
)

test('a password with two forms costs the same for an unknown user', async () => {
  const derived: string[] = []
  const derive: Derive = async (password, _salt, length) => {
    derived.push(password)
    return new Uint8Array(length)
  }
  const check = createPasswordCheck([], derive)
  const work = async (password: string, hash: ReturnType<typeof foreignHash>) => {
    derived.length = 0
    await check(password, hash)
    return [...derived]
  }
  const known = foreignHash(typed)
  await work(typed, known)
  expect(await work(decomposed, known)).toEqual([typed, decomposed])
  expect(await work(decomposed, undefined)).toEqual([typed, decomposed])
  expect(await work(typed, known)).toEqual([typed])
})

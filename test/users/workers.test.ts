// Password hashes in a Cloudflare Worker. What Cloudflare refuses in production, workerd allows on a machine, so the limit is
// simulated here; `test/runtimes/password-hash.test.ts` computes the same hashes in workerd.
import { pbkdf2Sync } from 'node:crypto'
import {
  createPasswordCheck,
  deriveKey,
  hashPassword,
  needsRehash,
  parsePasswordHash,
} from '@grantry/users/password-hash'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

vi.mock('node:crypto', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:crypto')>()
  return {
    // Vitest refuses a name that a module may have.
    argon2: undefined,
    ...original,
    pbkdf2(...args: Parameters<typeof original.pbkdf2>) {
      if (args[2] > 100_000) throw new Error('Pbkdf2 failed: iteration counts above 100000 are not supported')
      return original.pbkdf2(...args)
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:crypto` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

beforeEach(() => void vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' }))
afterEach(() => void vi.unstubAllGlobals())

const password = 'pässword: "x"'

const parsed = (text: string) => {
  const hash = parsePasswordHash(text)
  if (hash === undefined) throw new Error('not parsed')
  return hash
}

describe('PBKDF2 with more iterations than Cloudflare computes', () => {
  test.each(['sha1', 'sha256', 'sha512'])('of %s', async (digest) => {
    const salt = Buffer.from('a salt of sixteen')
    const expected = pbkdf2Sync(password, salt, 100_001, 32, digest)
    const cost = { algorithm: `pbkdf2-${digest}` as 'pbkdf2-sha1', iterations: 100_001 }
    expect(Buffer.from(await deriveKey(password, salt, 32, cost)).toString('hex')).toBe(expected.toString('hex'))
  })

  test('is the work of a name without a user, too', async () => {
    const known = parsed(`$pbkdf2-sha256$i=100001$${'A'.repeat(22)}$${'A'.repeat(43)}`)
    expect(await createPasswordCheck([known])(password, undefined)).toBe(false)
  })
})

describe('a new hash', () => {
  test('is of scrypt, which the runtime computes itself', async () => {
    const text = await hashPassword(password)
    expect(text).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/u)
    const hash = parsed(text)
    const check = createPasswordCheck()
    expect(await check(password, hash)).toBe(true)
    expect(await check('guess', hash)).toBe(false)
    expect(needsRehash(hash)).toBe(false)
    expect(needsRehash(parsed(text.replace('ln=15', 'ln=14')))).toBe(true)
  })

  test('costs as much as a check of a name without a user, before any user is known', async () => {
    const costs: unknown[] = []
    const derive: typeof deriveKey = (_password, _salt, _length, cost) => {
      costs.push(cost)
      return Promise.resolve(new Uint8Array(32))
    }
    await createPasswordCheck([], derive)('guess', undefined)
    expect(costs).toEqual([{ algorithm: 'scrypt', ln: 15, r: 8, p: 1 }])
  })
})

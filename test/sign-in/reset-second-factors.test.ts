// What a host can remove for a user who has lost a device: `provider.use(secondFactors).reset(sub)`.
import { recoveryCodes, totp } from '@grantry/plugins/one-time-password'
import { passkeys } from '@grantry/plugins/passkeys'
import { secondFactors as key, type SecondFactor } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { secret } from './one-time-password-parties.ts'
import { nameOf, setUpSignIn } from './parties.ts'

/** Alice has an authenticator app, recovery codes and a passkey. `failing` removes nothing. */
async function setting({ failing }: { readonly failing?: string } = {}) {
  const stored = new Set(['totp alice', 'codes alice', 'passkeys alice', 'totp bob'])
  const broken = new Set(failing === undefined ? [] : [failing])
  const remove = (kind: string) => async (sub: string) => {
    if (broken.has(kind)) throw new Error(`the table of ${kind} is locked`)
    stored.delete(`${kind} ${sub}`)
  }
  const f = await setUpSignIn({
    secondFactors: [
      totp({ secretOf: (sub) => (stored.has(`totp ${sub}`) ? secret : undefined), reset: remove('totp') }),
      recoveryCodes({ hashesOf: (sub) => (stored.has(`codes ${sub}`) ? ['hash'] : []), reset: remove('codes') }),
    ],
    passkeys: passkeys({ find: () => undefined, reset: remove('passkeys') }),
  })
  return { ...f, stored, broken, factors: f.provider.use(key) }
}

describe('a reset of second factors', () => {
  test('removes all of one user, who signs in by password alone; other users keep theirs', async () => {
    const { factors, stored, start } = await setting()
    expect(factors.withoutReset).toEqual([])
    expect(nameOf(await (await start()).enter('alice'))).toBe('secondFactor')
    await factors.reset('alice')
    expect([...stored]).toEqual(['totp bob'])
    expect(nameOf(await (await start()).enter('alice'))).toBe('consent')
    expect(nameOf(await (await start()).enter('bob'))).toBe('secondFactor')
  })

  test('of a user without factors does nothing', async () => {
    const { factors, stored } = await setting()
    await factors.reset('carol')
    expect(stored.size).toBe(4)
  })

  test('that fails in one of them removes the others, names it, and can be repeated', async () => {
    const { factors, stored, broken } = await setting({ failing: 'codes' })
    const failed = await factors.reset('alice').catch((error: unknown) => error)
    expect(failed).toMatchObject({
      code: 'temporarily_unavailable',
      message: 'Not all second factors were reset (secondFactors[1] failed), repeat the reset',
      cause: { message: expect.stringContaining('secondFactors[1]: the table of codes is locked') },
    })
    expect([...stored]).toEqual(['codes alice', 'totp bob'])
    broken.clear()
    await factors.reset('alice')
    expect([...stored]).toEqual(['totp bob'])
  })

  test('is refused, with nothing removed, while one of them cannot be reset', async () => {
    const removed: string[] = []
    const texts: SecondFactor = { amr: 'sms', isSetUp: () => true, verify: () => false }
    const { provider } = await setUpSignIn({
      secondFactors: [totp({ secretOf: () => secret, reset: (sub) => void removed.push(sub) }), texts],
      passkeys: passkeys({ find: () => undefined }),
    })
    const factors = provider.use(key)
    expect(factors.withoutReset).toEqual(['secondFactors[1]', 'passkeys'])
    await expect(factors.reset('alice')).rejects.toThrow('secondFactors[1], passkeys has no function reset')
    expect(removed).toEqual([])
  })

  test('is not offered where there is nothing to reset', async () => {
    const { provider } = await setUpSignIn()
    expect(provider.has(key)).toBe(false)
    expect(() => provider.use(key)).toThrow(
      'no plugin offers second-factors; add signIn() with secondFactors or passkeys',
    )
  })

  test('calls a factor of the host as its method', async () => {
    const texts = {
      amr: 'sms',
      numbers: new Map([['alice', '+1']]),
      isSetUp: (sub: string) => texts.numbers.has(sub),
      verify: () => false,
      reset(sub: string) {
        this.numbers.delete(sub)
      },
    }
    const { provider } = await setUpSignIn({ secondFactors: [texts] })
    await provider.use(key).reset('alice')
    expect(texts.numbers.size).toBe(0)
  })
})

test.each([
  ['of the host', { secondFactors: [{ amr: 'sms', isSetUp: () => true, verify: () => true, reset: hang }] }],
  ['of totp()', { secondFactors: [totp({ secretOf: () => secret, reset: hang })] }],
  ['of recoveryCodes()', { secondFactors: [recoveryCodes({ hashesOf: () => [], reset: hang })] }],
  ['of passkeys()', { passkeys: passkeys({ find: () => undefined, reset: hang }) }],
])('a function %s that hangs ends at its time limit', async (_whose, options) => {
  const { provider } = await setUpSignIn(options, { hostTimeLimit: 0.05 })
  await expect(provider.use(key).reset('alice')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('The service is temporarily unavailable') },
  })
})

function hang(): Promise<never> {
  return new Promise(() => {})
}

test('a revocation after the reset ends a sign-in that has passed the password', async () => {
  const { factors, provider, start } = await setting()
  const { submit, enter } = await start()
  const page = await enter('alice')
  expect(nameOf(page)).toBe('secondFactor')
  await factors.reset('alice')
  await provider.revoke({ subject: 'alice' })
  const next = await submit('secondfactor', { code: '000000' }, page)
  expect([nameOf(next), next.html]).toEqual(['signIn', expect.stringContaining('form_expired')])
})

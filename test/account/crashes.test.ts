// A process dies at each step of a change: no session from before the change is left beside the change, and the user can
// repeat it.
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { aliceAccount, linkIn, memoryAccounts, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { mortal } from './dying.ts'
import { codeAt, encryptionSecrets, secretIn, setUpUri } from './factors.ts'
import { accountUri, type Browser, setUpAccount } from './parties.ts'

const password = 'correct horse battery'

/** More than any of the changes has. */
const mostSteps = 60

const isSignedIn = async (browser: Browser): Promise<boolean> =>
  (await browser.open(accountUri)).html.includes('id="sessions"')

/** Accounts whose change of a password is two steps: a process can die before it, and after. */
function mortalAccounts(life: ReturnType<typeof mortal>) {
  const memory = memoryAccounts([aliceAccount])
  const { change } = memory.store
  const store = {
    ...memory.store,
    change: async (...parameters: Parameters<typeof change>) => {
      life.step()
      const changed = await change(...parameters)
      life.step()
      return changed
    },
  }
  return { ...memory, store }
}

describe('a process that dies', () => {
  test('20.94 while a password is changed leaves no session of the old one', async () => {
    let died = 0
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const life = mortal()
      const { store, users, authenticate } = mortalAccounts(life)
      const f = await setUpAccount({
        account: { accounts: store, mailer: { send: () => {} }, passwords: {} },
        provider: { storage: life.wrap(mapDriver()), users: { authenticate, claims: () => ({}) } },
      })
      const [phone, laptop] = [await f.signedIn(), await f.signedIn()]
      const page = await laptop.browser.open(`${accountUri}/password`)
      life.dieAfter(steps)
      await f.send(laptop.browser, page, { password })
      if (!life.restart()) break
      died += 1
      const current = users.get('alice')?.password ?? ''
      if (current === password) expect(await isSignedIn(phone.browser), `${steps} steps`).toBe(false)
      // With the password that counts, the user signs in, and repeats the change.
      const again = f.browser()
      await f.enter(again, await again.open(accountUri), 'alice', current)
      await f.send(again, await again.open(`${accountUri}/password`), { password })
      expect(users.get('alice')?.password).toBe(password)
      expect(await isSignedIn(phone.browser)).toBe(false)
    }
    expect(died).toBeGreaterThan(5)
  })

  test('20.94 while an app is set up leaves no session without it, and its page sets up no other one', async () => {
    let died = 0
    let counted = 0
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const life = mortal()
      const stored = storedSecondFactors({ encryptionSecrets })
      const f = await setUpAccount({
        signIn: { secondFactors: stored.factors },
        account: { secondFactors: stored.account },
        endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
        provider: { storage: life.wrap(mapDriver()) },
      })
      const kit = kitOf(f.provider, 'authorization-endpoint')
      const hasApp = async () => (await stored.account.state('sub of alice', kit)).app
      const [phone, laptop] = [await f.signedIn(), await f.signedIn()]
      const page = await laptop.browser.open(setUpUri)
      const secret = secretIn(page)
      life.dieAfter(steps)
      await f.send(laptop.browser, page, { code: codeAt(secret, f.clock.now()) })
      if (!life.restart()) break
      died += 1
      if (!(await hasApp())) continue
      counted += 1
      expect(await isSignedIn(phone.browser), `${steps} steps`).toBe(false)
      await stored.account.remove('sub of alice', kit)
      f.clock.advance(30)
      await f.send(laptop.browser, page, { code: codeAt(secret, f.clock.now()) })
      expect(await hasApp(), `${steps} steps`).toBe(false)
    }
    expect([died > 5, counted > 1]).toEqual([true, true])
  })

  test('19.7 while a forgotten password is replaced leaves no session of the old one', async () => {
    let died = 0
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const life = mortal()
      const { store, users, authenticate } = mortalAccounts(life)
      const f = await setUpAccounts(
        { store },
        { provider: { storage: life.wrap(mapDriver()), users: { authenticate } } },
      )
      const earlier = await f.start()
      await earlier.submit(earlier.page, { username: 'alice', password: 'alice-password' })
      const { ask, browser, submit } = await f.start()
      await ask('forgot', 'alice@example.com')
      const page = await browser.open(linkIn(await f.lastMail()))
      life.dieAfter(steps)
      await submit(page, { password })
      if (!life.restart()) break
      died += 1
      const isChanged = users.get('alice')?.password === password
      if (isChanged) expect(titleOf((await f.start({}, earlier.browser)).page), `${steps} steps`).toBe('Sign in')
      // Another mail completes it.
      const next = await f.start()
      await next.ask('forgot', 'alice@example.com')
      await next.submit(await next.browser.open(linkIn(await f.lastMail())), { password })
      expect(users.get('alice')?.password).toBe(password)
      expect(titleOf((await f.start({}, earlier.browser)).page)).toBe('Sign in')
    }
    expect(died).toBeGreaterThan(5)
  })
})

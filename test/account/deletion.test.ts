// Users delete their accounts on the account page.
import { createAccountPages } from '@grantry/pages/account'
import { accountPage } from '@grantry/plugins/account'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { memoryAccounts } from '../self-service/parties.ts'
import { setUpAddress } from './addresses.ts'
import { crashing, deletionUri, setUpDeletion } from './deletions.ts'
import { accountUri, setUpAccount } from './parties.ts'

describe('the deletion of an account', () => {
  test('20.75 removes all that belongs to the user, and signs out everywhere', async () => {
    const f = await setUpDeletion()
    const phone = await f.signedIn()
    const bob = await f.signedIn('bob')
    const { body } = await f.authorize(phone.browser)
    const { browser } = await f.signedIn()
    const asked = await browser.open(deletionUri)
    expect(asked.html).toContain('Delete your account?')
    expect(f.users.has('alice')).toBe(true)
    const done = await f.send(browser, asked)
    expect([done.status, done.html.includes('Your account is deleted')]).toEqual([200, true])
    expect(f.users.has('alice')).toBe(false)
    expect(f.left()).toEqual([])
    expect((await f.provider.inspect(String(body.refresh_token))).valid).toBe(false)
    expect((await f.provider.inspect(String(body.access_token))).valid).toBe(false)
    expect(await f.provider.use(userSessions).list('alice')).toEqual([])
    for (const signedOut of [browser, phone.browser])
      expect((await signedOut.open(accountUri)).html).toContain('name="password"')
    expect((await bob.browser.open(accountUri)).html).toContain('Signed in as bob<')
    const mails = await f.mailsTo('alice@example.com')
    expect(mails).toMatchObject([{ text: expect.stringContaining('Your account was deleted') }])
    expect(mails[0]?.text).not.toContain(accountUri)
    const changes = f.events.filter(({ type }) => type === 'account_changed')
    expect(changes).toMatchObject([{ change: 'account_deleted', sub: 'alice' }])
    // A reload of the page.
    expect((await f.send(browser, asked)).html).toContain('You are not signed in')
  })

  test('is off by default, and needs a function that removes', async () => {
    const { signedIn, users } = await setUpAddress()
    const { browser, page } = await signedIn()
    expect(page.html).not.toContain('id="delete-account"')
    expect((await browser.open(deletionUri)).url.href).toBe(accountUri)
    await browser.submit(deletionUri, {})
    expect(users.has('alice')).toBe(true)
    const { store } = memoryAccounts()
    const options = { pages: createAccountPages(), deletion: true }
    const message = 'deletion requires removeUser'
    expect(() => accountPage(options)).toThrow(message)
    expect(() => accountPage({ ...options, accounts: { ...store, remove: undefined } })).toThrow(message)
  })

  test('can be refused by the host', async () => {
    const f = await setUpDeletion({ removeUser: () => 'refused' })
    const { browser } = await f.signedIn()
    const done = await f.send(browser, await browser.open(deletionUri))
    expect(done.html).toContain('Your account cannot be deleted at the moment')
    expect((await browser.open(accountUri)).html).toContain('Signed in as alice<')
    expect((await f.signedIn()).page.html).toContain('Signed in as alice<')
    expect([f.events.filter(({ type }) => type === 'account_changed'), f.mails]).toEqual([[], []])
  })

  test('works without accounts, with the function of the host', async () => {
    const removed: string[] = []
    const { signedIn, send } = await setUpAccount({
      account: { deletion: true, removeUser: (sub) => void removed.push(sub) },
    })
    const { browser } = await signedIn()
    await send(browser, await browser.open(deletionUri))
    expect(removed).toEqual(['sub of alice'])
    expect((await signedIn()).page.html).not.toContain('id="sessions"')
    expect((await signedIn('bob')).page.html).toContain('id="sessions"')
  })

  test('20.75 is completed by the task if the host fails; until then the user cannot sign in', async () => {
    let fails = true
    const f = await setUpDeletion({
      removeUser(sub) {
        if (fails) throw new Error('down')
        f.users.delete(sub)
      },
    })
    const { browser } = await f.signedIn()
    const done = await f.send(browser, await browser.open(deletionUri))
    expect(done.html).toContain('Your account is deleted')
    expect(f.users.has('alice')).toBe(true)
    expect((await f.signedIn()).page.html).not.toContain('id="sessions"')
    f.clock.advance(61)
    await f.provider.runTasks()
    expect([f.users.has('alice'), f.mails]).toEqual([true, []])
    fails = false
    f.clock.advance(61)
    await f.provider.runTasks()
    expect([f.users.has('alice'), f.left(), f.mails.length]).toEqual([false, [], 1])
    f.clock.advance(61)
    await f.provider.runTasks()
    expect(f.events.filter(({ type }) => type === 'account_changed')).toHaveLength(1)
  })

  test('waits for no host that hangs', async () => {
    const f = await setUpDeletion({ removeUser: () => new Promise(() => {}) }, { hostTimeLimit: 0.05 })
    const { browser } = await f.signedIn()
    const done = await f.send(browser, await browser.open(deletionUri))
    expect(done.html).toContain('Your account is deleted')
    f.clock.advance(61)
    await f.provider.runTasks()
    const failures = f.events.filter((event) => event.type === 'unhandled_failure')
    expect(failures).toMatchObject([{ reason: 'task_failed' }])
  })

  test('20.75 can be repeated, or is completed, after a crash at each step', async () => {
    let crashes = 0
    for (let steps = 0; steps < 400; steps += 3) {
      const storage = crashing(memoryDriver())
      const f = await setUpDeletion({}, { storage: storage.driver })
      const { browser } = await f.signedIn()
      const { body } = await f.authorize(browser)
      const asked = await browser.open(deletionUri)
      storage.crashAfter(steps)
      await f.send(browser, asked).catch(() => undefined)
      const hasCrashed = storage.repair()
      if (!hasCrashed) break
      crashes += 1
      const again = await f.signedIn()
      const isSignedIn = again.page.html.includes('id="sessions"')
      // One of both: a whole account, or none.
      if (isSignedIn) expect([f.users.has('alice'), f.left().length > 0]).toEqual([true, true])
      if (isSignedIn) await f.send(again.browser, await again.browser.open(deletionUri))
      f.clock.advance(61)
      await f.provider.runTasks()
      // Nothing was decided.
      if (f.users.has('alice')) {
        expect(f.left().length).toBeGreaterThan(0)
        const { browser: next } = await f.signedIn()
        await f.send(next, await next.open(deletionUri))
      }
      expect([steps, f.users.has('alice'), f.left()]).toEqual([steps, false, []])
      expect((await f.provider.inspect(String(body.refresh_token))).valid).toBe(false)
      expect(await f.provider.use(userSessions).list('alice')).toEqual([])
      expect((await f.signedIn()).page.html).not.toContain('id="sessions"')
    }
    expect(crashes).toBeGreaterThan(5)
  })
})

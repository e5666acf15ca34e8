/**
 * Attack: a thief with a session and a fresh authentication, or with the mailbox of a user, has begun a change, and an
 * operator revokes or deactivates the user before it ends: a new passkey, app, password, profile or address, or a
 * recovery. What a flow has begun is judged again when it ends.
 *
 * OWASP ASVS 5.0 section 7.4; decisions 162 and 165.
 */
import type { AtomicDriver } from '@grantry/core'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { codeIn, codeUri } from '../account/addresses.ts'
import { codeAt, encryptionSecrets, secretIn, setUpUri } from '../account/factors.ts'
import { accountUri, type Browser, linksTo, setUpAccount } from '../account/parties.ts'
import { addUri, optionsIn } from '../account/passkeys.ts'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { aliceAccount, linkIn, memoryAccounts, setUpAccounts } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'

const password = 'correct horse battery'

/** Calls a function once, at the next moment of a kind. */
function moments() {
  let pending: (() => unknown) | undefined
  return {
    next(action: () => unknown): void {
      pending = action
    },
    async arrived(): Promise<void> {
      const action = pending
      pending = undefined
      await action?.()
    },
  }
}

/** A provider with all that users change. The moments are a write to the storage, and a call of the store of accounts. */
async function setUpChanges() {
  const [write, call] = [moments(), moments()]
  const memory = memoryAccounts([aliceAccount])
  const driver = memoryDriver()
  const storage: AtomicDriver = {
    ...driver,
    async insertItem(key, value, options) {
      await write.arrived()
      return driver.insertItem(key, value, options)
    },
  }
  const store = {
    ...memory.store,
    async find(sub: string) {
      const account = await memory.store.find(sub)
      await call.arrived()
      return account
    },
  }
  let isActive = true
  const [passkeys, factors] = [storedPasskeys(), storedSecondFactors({ encryptionSecrets })]
  const mails: { readonly to: string; readonly text: string }[] = []
  const f = await setUpAccount({
    signIn: { passkeys, secondFactors: factors.factors },
    account: {
      passkeys,
      secondFactors: factors.account,
      accounts: store,
      mailer: { send: (mail) => void mails.push(mail) },
      passwords: {},
    },
    provider: {
      storage,
      users: { authenticate: memory.authenticate, claims: () => ({}), isActive: () => isActive },
    },
  })
  const ends = {
    revoked: () => f.provider.revoke({ subject: 'alice' }),
    deactivated() {
      isActive = false
    },
  }
  const reactivate = () => {
    isActive = true
  }
  const mailed = async () => {
    await f.provider.runTasks()
    return mails.at(-1)
  }
  return { ...f, users: memory.users, write, call, ends, reactivate, mailed }
}

type Changes = Awaited<ReturnType<typeof setUpChanges>>

interface Change {
  /** When the user is revoked. */
  readonly moment: 'write' | 'call'
  begin(
    f: Changes,
    browser: Browser,
  ): Promise<{ readonly page: Page; readonly fields: Readonly<Record<string, string>> }>
}

const changes: Readonly<Record<string, Change>> = {
  'a passkey': {
    moment: 'write',
    async begin(_, browser) {
      const page = await browser.open(addUri)
      return { page, fields: { credential: createAuthenticator().register(optionsIn(page).challenge), name: 'mine' } }
    },
  },
  'an app': {
    moment: 'write',
    async begin({ clock }, browser) {
      const page = await browser.open(setUpUri)
      return { page, fields: { code: codeAt(secretIn(page), Math.floor(clock.now())) } }
    },
  },
  'a password': {
    moment: 'call',
    begin: async (_, browser) => ({ page: await browser.open(`${accountUri}/password`), fields: { password } }),
  },
  'a profile': {
    moment: 'call',
    begin: async (_, browser) => ({ page: await browser.open(`${accountUri}/profile`), fields: { name: 'Eve' } }),
  },
  'an address': {
    moment: 'call',
    async begin(f, browser) {
      const form = await browser.open(`${accountUri}/email`)
      await browser.submit(`${accountUri}/email`, { ...hiddenFields(form), address: 'eve@evil.example' })
      return {
        page: await browser.open(codeUri),
        fields: { code: codeIn(await f.mailed()) },
      }
    },
  },
}

const table = Object.entries(changes).flatMap(([name, change]) =>
  (['revoked', 'deactivated'] as const).map((end) => [name, end, change] as const),
)

describe('a change on the account page', () => {
  test.each(table)('of %s is not made for a user who is %s meanwhile', async (_, end, { moment, begin }) => {
    const f = await setUpChanges()
    const { browser } = await f.signedIn()
    const before = structuredClone(f.users.get('alice'))
    const { page, fields } = await begin(f, browser)
    f[moment].next(f.ends[end])
    await f.send(browser, page, fields)
    expect(f.users.get('alice')).toEqual(before)
    f.reactivate()
    const { page: overview } = await f.signedIn()
    // No factor is asked for, and no passkey is listed.
    expect(overview.html).toContain('id="sessions"')
    expect(linksTo(overview, 'passkeys/')).toEqual([addUri])
    expect(f.events.filter((event) => event.type === 'account_changed')).toEqual([])
  })

  test.each(table)('of %s is made otherwise (%s)', async (name, _, { begin }) => {
    const f = await setUpChanges()
    const { browser } = await f.signedIn()
    const { page, fields } = await begin(f, browser)
    await f.send(browser, page, fields)
    expect(
      f.events.filter((event) => event.type === 'account_changed'),
      name,
    ).toHaveLength(1)
  })
})

describe('a recovery', () => {
  test.each(['revoked', 'deactivated'] as const)(
    'gives no password and no session for a user who is %s meanwhile',
    async (end) => {
      let isActive = true
      const check = moments()
      const f = await setUpAccounts(
        {
          passwords: {
            async isCommon() {
              await check.arrived()
              return false
            },
          },
        },
        { provider: { users: { authenticate: () => undefined, claims: () => ({}), isActive: () => isActive } } },
      )
      const { ask, browser, submit } = await f.start()
      await ask('forgot', 'alice@example.com')
      const page = await browser.open(linkIn(await f.lastMail()))
      check.next(() => {
        if (end === 'revoked') return f.provider.revoke({ subject: 'alice' })
        isActive = false
        return undefined
      })
      const refused = await submit(page, { password })
      expect(refused.url.href).not.toContain('code=')
      expect(f.memory.users.get('alice')?.password).toBe('alice-password')
      expect(f.events.filter(({ type }) => type === 'session_started')).toEqual([])
    },
  )
})

/**
 * Attack: a thief of a session sends a form of the account page, while the owner or an administrator acts against the thief.
 * The act comes before any one of the storage calls of the request, and has to win: the form neither adds nor removes what
 * signs the owner in, and ends no session of the owner.
 *
 * A removal counts from the mark that it leaves before its last check: an act that follows the mark finds nothing to lose. New
 * recovery codes are compared and replaced, and after the last check, the former ones are put back in the same way. For the
 * other changes, the storage has no transaction over two records: one can still follow an act that comes between the last
 * check and the write. A withdrawal only ends access, so it can, too.
 *
 * OWASP ASVS 5.0 sections 6.3 and 7.4; docs/decisions/0022-revocation-by-epochs.md.
 */

import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { upstream } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { isRemoved } from '../../plugins/account/removed-user.ts'
import { createUserAuthorizations } from '../../plugins/shared/user-authorizations.ts'
import { insertLink } from '../../plugins/upstream/links.ts'
import { codeAt, encryptionSecrets, secretIn, setUpUri } from '../account/factors.ts'
import { accountUri, setUpAccount } from '../account/parties.ts'
import { addUri, optionsIn } from '../account/passkeys.ts'
import type { Page } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { acmeOf } from '../upstream/parties.ts'

/** The forms that are tried at every call, and never follow an act. */
const exact: readonly string[] = [
  'removes a passkey',
  'removes the app',
  'creates recovery codes',
  'unlinks a provider',
  'deletes the account',
]

/** For the others, every call of this many is tried: all of them take too long. Another one for each act. */
const step = 4

/** How many of those are in one check and the write that follows it. */
const reach = 2

/** The id of a credential. */
const deviceOf = (sub: string): string => Buffer.from(sub).toString('base64url')

async function setUpService() {
  const driver = interruptible(memoryDriver())
  const passkeys = storedPasskeys()
  const { account, factors } = storedSecondFactors({ encryptionSecrets })
  const disabled = new Set<string>()
  const removed = new Set<string>()
  const linkedProviders = upstream({ providers: [acmeOf({ issuer: 'https://acme.example', clientId: 'client' })] })
  const f = await setUpAccount({
    signIn: { passkeys, secondFactors: factors, ways: [linkedProviders] },
    account: {
      passkeys,
      secondFactors: account,
      linkedProviders,
      deletion: true,
      removeUser: (sub) => void removed.add(sub),
    },
    endpoint: { features: [{ parts: () => [offerKit('authorization-endpoint')] }] },
    provider: {
      storage: driver.storage,
      users: {
        authenticate: ({ username }) => ({ sub: username }),
        isActive: (sub) => !disabled.has(sub),
        claims: () => ({}),
      },
    },
  })
  const kit = kitOf(f.provider, 'authorization-endpoint')
  const sessions = f.provider.use(userSessions)
  const sidsOf = async (sub: string) => (await sessions.list(sub)).map(({ sid }) => sid)

  let added = 0
  /** Another user each time, with two sessions: that of a thief has begun last. */
  async function victim() {
    added += 1
    const sub = `user-${added}`
    await f.signedIn(sub)
    const owners = await sidsOf(sub)
    const { browser } = await f.signedIn(sub)
    const thiefs = (await sidsOf(sub)).filter((sid) => !owners.includes(sid))
    return { sub, browser, owner: owners[0] ?? '', thief: thiefs[0] ?? '' }
  }

  async function addPasskey(sub: string) {
    const credential = createAuthenticator(deviceOf(sub)).register('Y2hhbGxlbmdl')
    const domain = { challenge: 'Y2hhbGxlbmdl', origin: kit.issuer, rpId: 'id.example.com' }
    const passkey = await passkeys.add({ credential, ...domain, name: 'Laptop', sub, userName: sub }, kit)
    return typeof passkey === 'string' ? '' : passkey.id
  }

  async function addApp(sub: string) {
    const secret = account.newSecret()
    await account.confirm({ sub, secret, code: codeAt(secret, f.clock.now()) }, kit)
    await account.newCodes(sub, kit)
  }

  /** What belongs to the owner. */
  async function stateOf({ sub, thief }: { readonly sub: string; readonly thief: string }) {
    const [listed, { app }, codes, sids, links, access, isGone] = await Promise.all([
      passkeys.list(sub, kit),
      account.state(sub, kit),
      kit.records.get(`recovery codes of ${sub}`, v.any()),
      sidsOf(sub),
      linkedProviders.linked(kit).list(sub),
      createUserAuthorizations(kit).list(sub),
      isRemoved(kit, sub),
    ])
    return [
      ...listed.map(({ id, name }) => `passkey ${id} ${name}`),
      ...(app ? ['app'] : []),
      ...(codes === undefined ? [] : [`codes ${JSON.stringify(codes)}`]),
      ...sids.filter((sid) => sid !== thief).map((sid) => `session ${sid}`),
      ...links.map(({ id }) => `link ${id}`),
      ...access.map(({ clientId }) => `access ${clientId}`),
      ...(isGone || removed.has(sub) ? [] : ['account']),
    ]
  }
  return { ...f, driver, kit, sessions, disabled, victim, addPasskey, addApp, stateOf }
}

type Service = Awaited<ReturnType<typeof setUpService>>
type Victim = Awaited<ReturnType<Service['victim']>>

/** Returns the request that sends the form of a page. */
async function opened({ send }: Service, { browser }: Victim, path: string, fields = {}) {
  const page = await browser.open(`${accountUri}/${path}`)
  return () => send(browser, page, fields)
}

/** The forms: each returns the last request of the thief. */
const forms: Readonly<Record<string, (f: Service, victim: Victim) => Promise<() => Promise<Page>>>> = {
  async 'adds a passkey'({ send }, { browser, sub }) {
    const page = await browser.open(addUri)
    const credential = createAuthenticator(deviceOf(sub)).register(optionsIn(page).challenge)
    return () => send(browser, page, { credential, name: 'Thief' })
  },
  async 'removes a passkey'(f, victim) {
    return opened(f, victim, `passkeys/${await f.addPasskey(victim.sub)}/remove`)
  },
  async 'renames a passkey'(f, victim) {
    return opened(f, victim, `passkeys/${await f.addPasskey(victim.sub)}/rename`, { name: 'Thief' })
  },
  async 'sets up an app'({ send, clock }, { browser }) {
    const page = await browser.open(setUpUri)
    return () => send(browser, page, { code: codeAt(secretIn(page), clock.now()) })
  },
  async 'removes the app'(f, victim) {
    await f.addApp(victim.sub)
    return opened(f, victim, 'otp/remove')
  },
  async 'creates recovery codes'(f, victim) {
    await f.addApp(victim.sub)
    return opened(f, victim, 'recovery-codes')
  },
  async 'unlinks a provider'(f, victim) {
    const id = f.kit.sha256(victim.sub)
    await insertLink(f.kit, id, { sub: victim.sub, provider: 'acme', name: 'Acme', linkedAt: f.clock.now() })
    return opened(f, victim, `providers/${id}/remove`)
  },
  async 'withdraws access'(f, victim) {
    await f.authorize(victim.browser)
    return opened(f, victim, `applications/${f.kit.sha256('web').slice(0, 22)}`)
  },
  'ends a session': (f, victim) => opened(f, victim, `sessions/${victim.owner}`),
  'ends the other sessions': (f, victim) => opened(f, victim, 'sessions/end-others'),
  'deletes the account': (f, victim) => opened(f, victim, 'delete'),
}

/** What ends the session of the thief. */
const acts: Readonly<Record<string, (f: Service, victim: Victim) => Promise<unknown>>> = {
  'the user is revoked': ({ provider }, { sub }) => provider.revoke({ subject: sub }),
  'the user is disabled': async ({ disabled }, { sub }) => disabled.add(sub),
  'all sessions end': ({ sessions }, { sub }) => sessions.endAll(sub),
  'the session of the thief ends': ({ sessions }, { thief }) => sessions.end(thief),
}

/**
 * What follows from a write that came before the act: sessions end after an account was deleted, and codes with their app.
 * Access that has ended harms no owner.
 */
const follows = (form: string, item: string): boolean =>
  (form === 'deletes the account' && item.startsWith('session')) ||
  (form === 'withdraws access' && item.startsWith('access')) ||
  (form.endsWith('app') && item.startsWith('codes'))

const cases = Object.keys(forms).flatMap((form, row) =>
  Object.keys(acts).map((act, column) => [form, act, exact.includes(form) ? 0 : (row + column) % step] as const),
)

/** For all cases of a form: each attempt has its own user. */
const services = Object.fromEntries(Object.keys(forms).map((form) => [form, setUpService()]))

test.each(cases)('a thief who %s gains nothing when %s before any call of the storage', async (form, act, first) => {
  const f = await services[form]
  if (f === undefined) throw new Error('unknown form')
  const outcomes = await atEachCall(
    async (calls) => {
      const victim = await f.victim()
      const send = await forms[form]?.(f, victim)
      const before = await f.stateOf(victim)
      let then: readonly string[] = []
      const done = await f.driver.during(
        calls,
        async () => {
          await acts[act]?.(f, victim)
          then = await f.stateOf(victim)
        },
        async () => send?.(),
      )
      if (done === undefined) return undefined
      const after = await f.stateOf(victim)
      const { html } = await victim.browser.open(accountUri)
      const added = after.filter((item) => !before.includes(item) && !then.includes(item))
      const lost = before.filter((item) => then.includes(item) && !after.includes(item))
      return [
        ...[...added, ...lost].filter((item) => !follows(form, item)).map((item) => item.split(' ')[0]),
        ...(html.includes('name="password"') ? [] : ['a session']),
      ]
    },
    { first, step: exact.includes(form) ? 1 : step },
  )
  expect(outcomes.length).toBeGreaterThan(3)
  for (const item of new Set(outcomes.flat())) {
    expect(outcomes.filter((gained) => gained.includes(item)).length, item).toBeLessThanOrEqual(
      exact.includes(form) ? 0 : reach,
    )
  }
})

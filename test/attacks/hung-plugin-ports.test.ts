/**
 * Attack (or an outage): a function of the host that a plugin calls hangs. Without credentials, an attacker sends
 * requests that wait for it until they hold every place of the server, and they keep it when the attacker has gone.
 * Each function has a time limit and a limit on concurrent calls, and all together have one.
 *
 * The first test finds the functions in the schemas of the plugins: one without a case here fails.
 */
import type { Provider, ProviderEvent } from '@grantry/core'
import type { DevicePage } from '@grantry/plugins/device-authorization'
import { recoveryCodes, totp } from '@grantry/plugins/one-time-password'
import { passkeys } from '@grantry/plugins/passkeys'
import type { AccountStore } from '@grantry/plugins/self-service'
import type { SignInOptions } from '@grantry/plugins/sign-in'
import type { TokenExchangeOptions } from '@grantry/plugins/token-exchange'
import { describe, expect, test } from 'vitest'
import { createHostCalls, sharedLimits } from '../../packages/core/src/directory/host-port.ts'
import { accountCases } from '../account/hung-ports.ts'
import { request, setUp } from '../authorization/parties.ts'
import * as assertions from '../client-assertion/assertions.ts'
import { createBrowser, setUpPage } from '../device-authorization/browser.ts'
import * as jag from '../id-jag/jag-parties.ts'
import * as bearer from '../jwt-bearer/bearer-parties.ts'
import { aliceAccount, linkIn, memoryAccounts, setUpAccounts } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { functionsInOptions } from '../support/functions-in-options.ts'
import * as exchange from '../token-exchange/exchange-parties.ts'
import { setUpUpstream } from '../upstream/parties.ts'

const hang = (): Promise<never> => new Promise(() => {})
const limits = { hostTimeLimit: 0.05, maxHostCalls: 3 }
const bySecret = assertions.client({ jwks: undefined, tokenEndpointAuthMethod: 'client_secret_jwt' })
const device = createAuthenticator()
const stored = { sub: 'alice', publicKey: device.publicKey, counter: 0 }
const factor = { amr: 'otp', isSetUp: () => true, verify: () => true }
const byPassword = () => ({ username: 'alice', password: 'alice-password' })
const byPasskey = (html: string) => ({
  credential: device.respond(/"challenge":"([\w-]{43})"/u.exec(html)?.[1] ?? ''),
})

async function atSignIn(options: Partial<SignInOptions>, form: (html: string) => Record<string, string> = byPassword) {
  const f = await setUpSignIn(options, limits)
  const ask = async () => {
    const { page, submit } = await f.start()
    const next = await submit('signin', form(page.html))
    if (nameOf(next) === 'secondFactor') await submit('secondfactor', { code: '000000' }, next)
  }
  return { ...f, ask }
}

async function atConsent() {
  const f = await setUpSignIn({}, limits, { organizations: { isMember: hang } })
  const ask = async () => {
    const { enter, submit } = await f.start({ acr_values: 'tenant:acme' })
    await submit('consent', { decision: 'allow' }, await enter('alice'))
  }
  return { ...f, ask }
}

async function atDevicePage(page: Partial<DevicePage>) {
  const f = await setUpPage(page, limits)
  const { body } = await f.start()
  return { ...f, ask: () => createBrowser(f.provider, 'alice').open({ user_code: String(body.user_code) }) }
}

async function atExchange(settings: TokenExchangeOptions) {
  const f = await exchange.setUp(settings, undefined, limits)
  const jwt = await exchange.originalKey.sign(f.originalClaims({ sub: 'bdc' }))
  return { ...f, ask: () => f.exchange(jwt, { subject_token_type: exchange.typeOf('jwt'), scope: 'api' }) }
}

async function atProvider() {
  const f = await setUpUpstream({ options: { subject: hang }, more: limits })
  return { ...f, ask: async () => f.comeBack(await f.leave()) }
}

/** Several users, because a new password ends what else its user has proved. Each chooses one with a mail. */
async function atRecovery(store: Partial<AccountStore>) {
  const users = ['alice', 'bob', 'carol', 'dave'].map((sub) => {
    return { ...aliceAccount, sub, username: sub, email: `${sub}@example.com` }
  })
  const accounts = { ...memoryAccounts(users).store, ...store }
  const f = await setUpAccounts({ store: accounts, limits: { perAddress: 20 } }, { provider: limits })
  const proved: (() => Promise<unknown>)[] = []
  for (const { email } of users) {
    const { ask, browser, submit } = await f.start()
    await ask('forgot', email)
    const page = await browser.open(linkIn(await f.lastMail()))
    proved.push(() => submit(page, { password: 'correct horse battery' }))
  }
  return { ...f, ask: async () => proved.shift()?.() }
}

/** By the option as its schema has it, and the port in events: a provider in which it hangs, and a request that calls it. */
const cases: Readonly<Record<string, readonly (readonly [port: string, setUp: () => Promise<Hanging>])[]>> = {
  ...accountCases(limits),
  'passkeys.find': [['passkeys.find', () => atSignIn({ passkeys: passkeys({ find: hang }) }, byPasskey)]],
  'passkeys.onUse': [
    ['passkeys.onUse', () => atSignIn({ passkeys: passkeys({ find: () => stored, onUse: hang }) }, byPasskey)],
    ['passkeys.verify', () => atSignIn({ passkeys: { verify: hang } }, byPasskey)],
  ],
  'one-time-password/totp.secretOf': [
    ['totp.secretOf', () => atSignIn({ secondFactors: [totp({ secretOf: hang })] })],
    ['secondFactors.isSetUp', () => atSignIn({ secondFactors: [{ ...factor, isSetUp: hang }] })],
    ['secondFactors.verify', () => atSignIn({ secondFactors: [{ ...factor, verify: hang }] })],
  ],
  'one-time-password/recovery-codes.hashesOf': [
    ['recoveryCodes.hashesOf', () => atSignIn({ secondFactors: [recoveryCodes({ hashesOf: hang })] })],
  ],
  'authorization-endpoint/authorization-options.interact': [
    [
      'authorizationEndpoint.interact',
      async () => {
        const f = await setUp({ interact: hang }, {}, limits)
        return { ...f, ask: () => f.browser().open(f.urlOf(request)) }
      },
    ],
  ],
  'authorization-endpoint/organizations.isMember': [['organizations.isMember', atConsent]],
  'device-authorization/device-page-options.signIn': [
    ['deviceAuthorization.signIn', () => atDevicePage({ signIn: hang })],
  ],
  'device-authorization/device-page-options.render': [
    ['deviceAuthorization.render', () => atDevicePage({ render: hang })],
  ],
  'device-authorization/device-page-options.suffices': [
    ['deviceAuthorization.suffices', () => atDevicePage({ suffices: hang })],
  ],
  'client-assertion/assertion-settings.secretOf': [
    [
      'clientAssertion.secretOf',
      async () => {
        const f = await assertions.setUp({ secretOf: hang }, [bySecret], limits)
        const jwt = await assertions.sign(assertions.claims(), new TextEncoder().encode('a'.repeat(32)), {
          alg: 'HS256',
        })
        return { ...f, ask: () => assertions.present(f, jwt) }
      },
    ],
  ],
  'jwt-bearer.subject': [
    [
      'jwtBearer.subject',
      async () => {
        const f = await bearer.setUp({}, { subject: hang }, limits)
        const jwt = await bearer.key.sign(bearer.example)
        return { ...f, ask: () => f.redeem(jwt) }
      },
    ],
  ],
  'id-jag/id-jag-options.subject': [
    [
      'idJag.subject',
      async () => {
        const f = await jag.chatServer({}, { subject: hang }, limits)
        const assertion = await f.signed()
        return { ...f, ask: () => f.redeem(assertion) }
      },
    ],
  ],
  'id-jag/id-jag-options.allow': [
    [
      'idJag.allow',
      async () => {
        const f = await jag.identityProvider({ allow: hang }, limits)
        const { id_token: token } = await f.signIn()
        return { ...f, ask: () => f.request(token) }
      },
    ],
  ],
  'upstream/upstream-options.subject': [['upstream.subject', atProvider]],
  'token-exchange.subject': [['tokenExchange.subject', () => atExchange({ subject: hang })]],
  'token-exchange.allow': [['tokenExchange.allow', () => atExchange({ allow: hang })]],
}

/** Functions that requests do not wait for in this way. */
const others: Readonly<Record<string, string>> = {
  'account.removeUser': 'has the limits, but is called again by a task then: test/account/deletion.test.ts',
  'passkeys.reset': 'is called for administrators: test/sign-in/reset-second-factors.test.ts',
  'one-time-password/totp.reset': 'is called for administrators, too',
  'one-time-password/recovery-codes.reset': 'is called for administrators, too',
  'authorization-endpoint/authorization-options.parts': 'is called at startup',
  'authorization-endpoint/authorization-options.suffices':
    'is called by the page for devices, with the limits of that one',
  'shared/jwks-settings.fetch': 'has a time limit of its own, with the request that it sends',
  'shared/new-passwords.isCommon': 'has the limits, but is skipped then: test/account/password.test.ts',
  'client-metadata/client-metadata-options.fetch': 'has a time limit of its own, with the request that it sends',
  'upstream/upstream-options.fetch': 'has a time limit of its own, with the request that it sends',
  'back-channel-logout.fetch': 'has a time limit of its own, with the request that it sends',
}

interface Hanging {
  readonly events: readonly ProviderEvent[]
  readonly provider: Pick<Provider, 'fetch' | 'issuer'>
  ask(): Promise<unknown>
}

test('each function of the host in the options of a plugin has a case', () => {
  expect(functionsInOptions()).toEqual([...Object.keys(cases), ...Object.keys(others)].sort())
})

/** The stores have many functions, which are called in one way. */
const ofStores = [['selfService.store.change', () => atRecovery({ change: hang })]] as const

describe.each([...Object.values(cases).flat(), ...ofStores])('%s hangs', (port, setUp) => {
  // The page for devices also renders its refusals, so that each of its failures is followed by a second event.
  const failures = ({ events }: Hanging) =>
    events.flatMap((event) =>
      event.type === 'unhandled_failure' && event.reason !== 'error_not_presented' ? [[event.reason, event.port]] : [],
    )

  test('a request ends at the time limit, and further ones immediately', async () => {
    const f = await setUp()
    await Promise.all([f.ask(), f.ask(), f.ask()])
    expect(failures(f)).toEqual([1, 2, 3].map(() => ['host_port_timed_out', port]))
    await f.ask()
    expect(failures(f).at(-1)).toEqual(['host_port_busy', port])
    expect((await f.provider.fetch(new Request(`${f.provider.issuer}/.well-known/jwks`))).status).toBe(200)
  })
})

test('functions that hang together hold fewer requests than the server accepts', async () => {
  const limits = { timeLimit: 60, maxCalls: 128, runtime: { elapsed: () => 0 } }
  const call = createHostCalls(sharedLimits(limits))
  const pending = new Set<number>()
  const refused: unknown[] = []
  for (let index = 0; index < 2000; index += 1) {
    pending.add(index)
    void call(`port ${index % 20}`, hang).catch((error: unknown) => {
      pending.delete(index)
      refused.push(error)
    })
  }
  await new Promise((resolve) => setImmediate(resolve))
  // An external signer, which has a limit of its own, brings it to 896.
  expect(pending.size).toBe(768)
  expect(refused).toHaveLength(2000 - 768)
})

// What would end in an empty page, or in a 500 at the first sign-in, is refused at start.
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { accountPage } from '@grantry/plugins/account'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { endSession } from '@grantry/plugins/end-session'
import { passkeys, storedPasskeys } from '@grantry/plugins/passkeys'
import { proofKey } from '@grantry/plugins/proof-key'
import { selfService } from '@grantry/plugins/self-service'
import { type SignInOptions, signIn } from '@grantry/plugins/sign-in'
import { createTestProvider, type TestProviderOptions } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const pages = createPages()
const users = { authenticate: () => ({ sub: 'alice' }), claims: () => ({}) }
const store = { find: () => undefined, findByName: () => undefined, findByEmail: () => undefined } as const
const fullStore = { ...store, create: () => 'taken', change: () => undefined } as const
const selfServicePages = createSelfServicePages({ host: 'id.example.com' })
const mailer = { send: () => undefined }
const passkeysOfHost = passkeys({ find: () => undefined })
const accountsOf = (more: object) =>
  selfService({ store: fullStore, mailer, pages: selfServicePages, ...more } as never)

const endpointWith = (options: Partial<SignInOptions>) =>
  authorizationEndpoint({ interaction: signIn({ pages, ...options }), pages })

async function startOf(options: Partial<SignInOptions>, more: Partial<TestProviderOptions> = {}): Promise<string> {
  try {
    await createTestProvider({ plugins: [authorizationCode(), proofKey(), endpointWith(options)], users, ...more })
    return 'starts'
  } catch (thrown) {
    return thrown instanceof TypeError ? thrown.message : `no TypeError: ${thrown}`
  }
}

const noWay = 'signIn(): with passwords: false, users need another way to sign in; add passkeys, or ways'
const atAddress = { issuer: 'http://127.0.0.1:8484' }
const noPasskeys = expect.stringMatching(/the issuer has an IP address, at which browsers have no passkeys/u)

describe('a sign-in', () => {
  test.each<readonly [string, Partial<SignInOptions>, Partial<TestProviderOptions>, unknown]>([
    ['with passwords', {}, {}, 'starts'],
    ['without any way', { passwords: false }, {}, noWay],
    ['with a mail for new passwords only', { passwords: false, ways: [accountsOf({})] }, {}, noWay],
    ['with a sign-up only', { passwords: false, ways: [accountsOf({ signUp: 'open' })] }, {}, noWay],
    ['by mail', { passwords: false, ways: [accountsOf({ mail: 'link' })] }, {}, 'starts'],
    ['by passkey', { passwords: false, passkeys: passkeysOfHost }, {}, 'starts'],
    ['by passkey at an IP address', { passwords: false, passkeys: passkeysOfHost }, atAddress, noPasskeys],
    ['by passkey or password at an IP address', { passkeys: passkeysOfHost }, atAddress, 'starts'],
    [
      'by passkey or mail at an IP address',
      { passwords: false, passkeys: passkeysOfHost, ways: [accountsOf({ mail: 'code' })] },
      atAddress,
      'starts',
    ],
    [
      'without users',
      {},
      { users: {} },
      'users: the endpoint signIn of authorization-endpoint requires authenticate()',
    ],
    ['without users, by passkey', { passwords: false, passkeys: passkeysOfHost }, { users: {} }, 'starts'],
  ])('%s', async (_title, options, more, expected) => {
    expect(await startOf(options, more)).toEqual(expected)
  })
})

/** Everything that `make` is given, without one function at a time. */
function lacking<T extends object>(port: T): readonly (readonly [string, object])[] {
  const functions = Object.entries(port).filter(([, value]) => typeof value === 'function')
  return functions.map(([name]) => [name, { ...port, [name]: undefined }] as const)
}

const ports: Readonly<
  Record<string, readonly [port: object, make: (port: never) => unknown, names: readonly string[]]>
> = {
  'pages of signIn()': [
    pages,
    (port) => signIn({ pages: port }),
    ['localeOf', 'signIn', 'secondFactor', 'consent', 'chooseAccount', 'error'],
  ],
  'pages of authorizationEndpoint()': [
    pages,
    (port) => authorizationEndpoint({ interaction: signIn({ pages }), pages: port }),
    ['localeOf', 'error', 'formPost'],
  ],
  'pages of endSession()': [
    pages,
    (port) => endSession({ pages: port }),
    ['localeOf', 'confirmLogout', 'signedOut', 'stillSignedIn', 'error'],
  ],
  'pages of deviceAuthorization()': [
    pages,
    (port) => deviceAuthorization({ page: { signIn: () => undefined, pages: port } } as never),
    ['localeOf', 'deviceCode'],
  ],
  'pages of accountPage()': [
    createAccountPages(),
    (port) => accountPage({ pages: port }),
    Object.keys(createAccountPages()),
  ],
  'pages of selfService()': [selfServicePages, (port) => accountsOf({ pages: port }), Object.keys(selfServicePages)],
  'store of selfService()': [fullStore, (port) => accountsOf({ store: port }), Object.keys(fullStore)],
  'mailer of selfService()': [mailer, (port) => accountsOf({ mailer: port }), ['send']],
  'passkeys of signIn()': [passkeysOfHost, (port) => signIn({ pages, passkeys: port }), ['verify']],
  'passkeys of accountPage()': [
    storedPasskeys(),
    (port) => accountPage({ pages: createAccountPages(), passkeys: port }),
    ['list', 'credentialIds', 'add', 'rename', 'remove'],
  ],
}

describe.each(Object.entries(ports))('the %s', (_title, [port, make, names]) => {
  test('start when complete', () => expect(() => make(port as never)).not.toThrow())

  test.each(lacking(port).filter(([name]) => names.includes(name)))('are refused without %s', (name, partial) => {
    expect(() => make(partial as never)).toThrow(`it has no function ${name}`)
  })

  test('are refused if they are none', () => {
    expect(() => make({} as never)).toThrow(/must be /u)
    expect(() => make('pages' as never)).toThrow(/must be /u)
  })

  test('have all functions that the table names', () => {
    expect(lacking(port).map(([name]) => name)).toEqual(expect.arrayContaining([...names]))
  })
})

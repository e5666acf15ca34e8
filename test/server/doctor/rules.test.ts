import { readdirSync, readFileSync } from 'node:fs'
import { clientSchema, parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import type { Facts } from '../../../packages/server/src/doctor/facts.ts'
import { rules } from '../../../packages/server/src/doctor/rules.ts'
import { runChecks } from '../../../packages/server/src/doctor/run-checks.ts'
import { findWeakSecrets, guesses } from '../../../packages/server/src/doctor/weak-secrets.ts'
import { root } from '../running-command.ts'
import { hashed } from './configurations.ts'

const day = 86_400
const generated = hashed('of the key ring').sha256
const now = 2_000_000_000

/** The current key, which has been signing for this many days, and the next one. */
function key(days: number) {
  const [createdAt, activatedAt] = [now - 200 * day, now - days * day]
  return { kid: 'k1', algorithm: 'ES256', state: 'current', createdAt, activatedAt } as const
}

const facts = (configuration: object, more: Partial<Facts> = {}): Facts => ({
  configuration: {
    issuer: 'https://id.example.com',
    storage: { driver: 'filesystem', directory: './data', fsync: true },
    keys: { encryptionSecret: generated, rotateAfter: 90 * day },
    endpoints: { accessTokenValidation: false },
    trustedProxies: 1,
    abuseControl: { enabled: true },
    metrics: true,
    ...configuration,
  } as never,
  clients: [],
  hasExternalClients: false,
  ...{ storedClients: [], tenantClients: [], tenantProblems: [], unreachable: [] },
  scopes: [],
  users: [],
  files: [],
  keyFileChangedAt: undefined,
  keys: [key(9)],
  signingAlgorithms: ['ES256'],
  metadata: {},
  store: { reachable: true, driver: { name: 'some' }, clockAhead: 0 },
  storedProblems: [],
  ofProvider: [],
  warnings: [],
  now,
  ...more,
})

const findingsOf = (configuration: object, more?: Partial<Facts>) =>
  runChecks(facts(configuration, more)).map(({ id, severity }) => [id, severity])

describe('settings of other parts of the server', () => {
  test('have no findings by default', () => {
    expect(findingsOf({})).toEqual([])
    expect(findingsOf({ metrics: { port: 9464, host: '127.0.0.1' } })).toEqual([])
    expect(findingsOf({ issuer: 'http://127.0.0.1:8484', console: { remote: false } })).toEqual([
      ['issuer-loopback', 'info'],
    ])
  })

  const driver = { name: 'some' }
  test.each<[string, object, Partial<Facts> | undefined, readonly string[]]>([
    ['disabled abuse control', { abuseControl: { enabled: false } }, undefined, ['abuse-control-off', 'warning']],
    [
      'abuse control without limits for secrets',
      { abuseControl: { enabled: true, credentials: false } },
      undefined,
      ['abuse-control-off', 'warning'],
    ],
    ['a remote console', { console: { remote: true } }, undefined, ['console-on', 'error']],
    ['a console on a public server', { console: { remote: false } }, undefined, ['console-on', 'warning']],
    ['public metrics', { metrics: { port: 9464, host: '0.0.0.0' } }, undefined, ['metrics-public', 'warning']],
    [
      'replicas that PostgreSQL does not wait for',
      {},
      { store: { reachable: true, driver, clockAhead: 0, hasAsynchronousReplicas: true } },
      ['store-asynchronous-replicas', 'warning'],
    ],
    ['a clock that is ahead', {}, { store: { reachable: true, driver, clockAhead: 5 } }, ['store-clock', 'warning']],
    [
      'a clock that is far behind',
      {},
      { store: { reachable: true, driver, clockAhead: -90 } },
      ['store-clock', 'error'],
    ],
    [
      'an eviction policy',
      {},
      { store: { reachable: false, reason: 'Redis at x has the maxmemory-policy allkeys-lru' } },
      ['store-evicts', 'error'],
    ],
    [
      'keys in memory',
      { issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' } },
      undefined,
      ['keys-not-kept', 'warning'],
    ],
    [
      'keys encrypted with another secret',
      {},
      {
        keys: undefined,
        store: { reachable: false, reason: 'keys: the stored key ring was encrypted with another secret' },
      },
      ['keys-unreadable', 'error'],
    ],
    ['unencrypted keys', { keys: { rotateAfter: 90 * day } }, undefined, ['keys-unencrypted', 'warning']],
    [
      'an encryption secret copied from a guide',
      { keys: { encryptionSecret: 'a-generated-secret-of-at-least-32-characters' } },
      undefined,
      ['secret-weak', 'error'],
    ],
    [
      'an encryption secret of few different characters',
      { keys: { encryptionSecret: 'abc1234'.repeat(5) } },
      undefined,
      ['secret-weak', 'error'],
    ],
    [
      'nonces without a key that can seal them',
      { keys: [{ publicKey: {}, sign: () => new Uint8Array() }], plugins: [{ name: 'dpop', nonce: true }] },
      undefined,
      ['dpop-nonce-unsealed', 'error'],
    ],
    ['an overdue rotation', {}, { keys: [key(120)] }, ['key-old', 'warning']],
  ])('%s', (_what, configuration, more, expected) => {
    expect(findingsOf(configuration, more).filter(([id]) => id !== 'issuer-loopback')).toEqual([expected])
  })

  test('nothing wrong with nonces and a private key next to an external one', () => {
    const keys = [
      { publicKey: {}, sign: () => new Uint8Array() },
      { kty: 'EC', d: 'x' },
    ]
    expect(findingsOf({ keys, plugins: [{ name: 'dpop', nonce: true }] })).toEqual([])
  })

  test('key-overlap-short: keys rotate faster than tokens expire', () => {
    const client = {
      accessTokenLifetime: 3600,
      refreshToken: { unasked: 'never' },
      enabled: true,
      scopes: [],
      redirectUris: [],
      postLogoutRedirectUris: [],
      allowedCorsOrigins: [],
      grantTypes: ['x'],
      secrets: { stored: [] },
    }
    const configuration = { keys: { encryptionSecret: generated, rotateAfter: 3600 } }
    const all = findingsOf(configuration, { clients: [client as never], keys: [key(0)] })
    expect(all).toContainEqual(['key-overlap-short', 'warning'])
  })
})

describe('RS256, which OpenID Connect Discovery requires', () => {
  const declared = {
    clientId: 'web',
    secrets: [hashed('a secret that cannot be guessed')],
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['https://web.example.com/cb'],
  }
  const where = (more: object, configuration: object = {}, elsewhere: Partial<Facts> = {}) => {
    const clients = [parseConfiguration(clientSchema, { ...declared, ...more }, 'clients[0]')]
    return runChecks(facts(configuration, { clients, ...elsewhere }))
      .filter(({ id }) => id === 'openid-algorithm-missing')
      .map((finding) => finding.where)
  }

  test('is missing if a client signs users in', () => {
    expect(where({})).toEqual(['keys.algorithms'])
    expect(where({}, { keys: { jwks: './keys.json' } })).toEqual(['keys.jwks'])
    expect(where({}, { keys: [{}] })).toEqual(['keys'])
    // Not only at a login page.
    expect(where({ grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'] })).toEqual(['keys.algorithms'])
    const elsewhere = { clients: [], hasExternalClients: true }
    expect(where({}, { authorizationEndpoint: 'https://login.example.com' }, elsewhere)).toEqual(['keys.algorithms'])
    expect(where({}, { plugins: [{ name: 'sign-in' }] }, elsewhere)).toEqual(['keys.algorithms'])
  })

  test('is no warning if every client names another algorithm', () => {
    const severityOf = (more: object) => {
      const clients = [parseConfiguration(clientSchema, { ...declared, ...more }, 'clients[0]')]
      return runChecks(facts({}, { clients })).find(({ id }) => id === 'openid-algorithm-missing')?.severity
    }
    expect([severityOf({}), severityOf({ identityTokenAlgorithm: 'ES256' })]).toEqual(['warning', 'info'])
  })

  test('is not reported if it is offered, or no client signs users in', () => {
    expect(where({}, {}, { signingAlgorithms: ['ES256', 'RS256'] })).toEqual([])
    expect(where({ enabled: false })).toEqual([])
    expect(where({ scopes: ['api1'] })).toEqual([])
    expect(where({ grantTypes: ['client_credentials'] })).toEqual([])
    expect(where({}, { plugins: [{ name: 'dpop' }] }, { clients: [], hasExternalClients: true })).toEqual([])
  })
})

describe('guessing', () => {
  test('tries each name with common suffixes, and every short text', () => {
    const all = new Set(guesses(['orders']))
    for (const guess of ['', 'orders', 'orders-secret', 'a', 'zz9', '0000', '9999', 'demo-secret'])
      expect(all).toContain(guess)
    expect(all.size).toBeLessThan(100_000)
  })

  test('finds nothing in a strong secret', () => {
    const hash = Buffer.from(hashed('kPw8-a long secret that cannot be guessed').sha256 ?? '', 'base64').toString('hex')
    expect(findWeakSecrets(new Map([[hash, 'sha256']]), ['web']).size).toBe(0)
  })
})

describe('the rules', () => {
  test('are all covered by a test', () => {
    const tests = [
      ...readdirSync(`${root}/test/server/doctor`),
      '../../administration/scope-commands.test.ts',
      '../../sign-in/one-time-password.test.ts',
      '../../user-databases/configuration.test.ts',
    ]
      .map((name) => readFileSync(`${root}/test/server/doctor/${name}`, 'utf8'))
      .join('')
    const untested = rules.map(({ id }) => id).filter((id) => !tests.includes(`'${id}'`))
    expect(untested, 'add a case to the file of their subject; finding-cases.ts lists the files').toEqual([])
  })

  test('refer to existing documents', () => {
    for (const { source } of rules) {
      for (const [path = ''] of source.matchAll(/docs\/[\w./-]+\.md/gu)) {
        expect(readFileSync(`${root}/${path}`, 'utf8')).not.toBe('')
      }
    }
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { examine } from '../../../packages/server/src/doctor/examine.ts'
import type { Facts } from '../../../packages/server/src/doctor/facts.ts'
import { rules } from '../../../packages/server/src/doctor/rules.ts'
import { guesses, weakAmong } from '../../../packages/server/src/doctor/weak-secrets.ts'
import { root } from '../running-command.ts'
import { hashed } from './configurations.ts'

const day = 86_400
const now = 2_000_000_000

const facts = (configuration: object, more: Partial<Facts> = {}): Facts => ({
  configuration: {
    issuer: 'https://id.example.com',
    storage: { driver: 'filesystem', directory: './data', fsync: true },
    keys: { encryptionSecret: 'x', rotateAfter: 90 * day },
    endpoints: { accessTokenValidation: false },
    trustedProxies: 1,
    ...configuration,
  } as never,
  clients: [],
  clientsElsewhere: false,
  scopes: [],
  users: [],
  files: [],
  keyFileChangedAt: undefined,
  keys: [{ kid: 'k1', state: 'current', createdAt: now - 10 * day, activatedAt: now - 9 * day }],
  store: { reachable: true, driver: { name: 'some' }, counts: true, clockAhead: 0 },
  warnings: [],
  now,
  ...more,
})

const found = (configuration: object, more?: Partial<Facts>) =>
  examine(facts(configuration, more)).map(({ id, severity }) => [id, severity])

describe('what other parts of the server bring', () => {
  test('is healthy as it is set by default', () => {
    expect(found({ abuseControl: { enabled: true }, console: false, metrics: { port: 9464 } })).toEqual([])
  })

  const driver = { name: 'some' }
  test.each<[string, object, Partial<Facts> | undefined, readonly string[]]>([
    ['abuse control that is off', { abuseControl: { enabled: false } }, undefined, ['abuse-control-off', 'warning']],
    ['a console that strangers reach', { console: true }, undefined, ['console-on', 'error']],
    ['metrics on the public port', { metrics: true }, undefined, ['metrics-public', 'warning']],
    [
      'a driver that cannot count',
      { abuseControl: {} },
      { store: { reachable: true, driver, counts: false, clockAhead: 0 } },
      ['store-without-counter', 'warning'],
    ],
    [
      'a clock that is ahead',
      {},
      { store: { reachable: true, driver, counts: true, clockAhead: 5 } },
      ['store-clock', 'warning'],
    ],
    [
      'a clock that is far behind',
      {},
      { store: { reachable: true, driver, counts: true, clockAhead: -90 } },
      ['store-clock', 'error'],
    ],
    [
      'an eviction policy',
      {},
      { store: { reachable: false, reason: 'Redis at x has the maxmemory-policy allkeys-lru' } },
      ['store-evicts', 'error'],
    ],
    ['keys that are not kept', { keys: {} }, { keys: undefined }, ['keys-not-kept', 'warning']],
    ['keys without encryption', { keys: { rotateAfter: 90 * day } }, undefined, ['keys-unencrypted', 'warning']],
    [
      'a key that was not rotated in time',
      {},
      { keys: [{ kid: 'k1', state: 'current', createdAt: now - 200 * day }] },
      ['key-old', 'warning'],
    ],
  ])('%s', (_what, configuration, more, expected) => {
    expect(found(configuration, more)).toEqual([expected])
  })

  test('rotation that is faster than tokens end', () => {
    const client = {
      accessTokenLifetime: 3600,
      enabled: true,
      scopes: [],
      redirectUris: [],
      postLogoutRedirectUris: [],
      allowedCorsOrigins: [],
      grantTypes: ['x'],
      secrets: { stored: [] },
    }
    const configuration = { keys: { encryptionSecret: 'x', rotateAfter: 3600 } }
    const keys = [{ kid: 'k1', state: 'current', createdAt: now }] as const
    expect(found(configuration, { clients: [client as never], keys })).toContainEqual(['key-overlap-short', 'warning'])
  })
})

describe('guessing', () => {
  test('tries each name with what people put after it, and every short text', () => {
    const all = new Set(guesses(['orders']))
    for (const guess of ['', 'orders', 'orders-secret', 'a', 'zz9', '0000', '9999', 'demo-secret'])
      expect(all).toContain(guess)
    expect(all.size).toBeLessThan(100_000)
  })

  test('finds nothing in a strong secret', () => {
    const hash = Buffer.from(hashed('kPw8-a long one that nobody guesses').sha256 ?? '', 'base64').toString('hex')
    expect(weakAmong(new Map([[hash, 'sha256']]), ['web']).size).toBe(0)
  })
})

describe('the rules', () => {
  const guide = readFileSync(`${root}/docs/guides/doctor.md`, 'utf8')

  test('are the table in the guide, word for word', () => {
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` \| (\w+) \| (.+) \| (.+) \|$/gmu)].map(
      ([, id, severity, remedy, source]) => [id, severity, remedy, source],
    )
    const escaped = (text: string) => text.replaceAll('|', '\\|')
    expect(rows).toEqual(
      Object.entries(rules).map(([id, { severity, remedy, source }]) => [id, severity, escaped(remedy), source]),
    )
  })

  test('each is proved by a test', () => {
    const tests = ['findings', 'rules']
      .map((name) => readFileSync(`${root}/test/server/doctor/${name}.test.ts`, 'utf8'))
      .join('')
    for (const id of Object.keys(rules)) expect(tests).toContain(`'${id}'`)
  })

  test('name documents that are there, as far as they are ours', () => {
    // The guide of the key ring comes with it.
    for (const { source } of Object.values(rules)) {
      for (const [path = ''] of source.matchAll(/docs\/[\w./-]+\.md/gu)) {
        if (path !== 'docs/guides/keys.md') expect(readFileSync(`${root}/${path}`, 'utf8')).not.toBe('')
      }
    }
  })
})

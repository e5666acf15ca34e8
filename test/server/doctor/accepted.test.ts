// What the operator has decided: `check.accept` names findings that are no problem here.
import { parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { rules } from '../../../packages/server/src/doctor/rules.ts'
import { withAccepted } from '../../../packages/server/src/doctor/run-checks.ts'
import { configurationSchema } from '../../support/configuration-schema.ts'
import { printed } from '../printed.ts'
import { client, healthy, ofConfiguration, strong, written } from './configurations.ts'

const redis = { driver: 'redis', url: 'redis://cache.grantry.invalid:1', operationTimeout: 0.1 }
const acme = { name: 'acme', issuer: 'https://login.acme.example.com', clientId: 'x', clientSecret: strong('acme') }
const code = { ...client, grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }
const withProvider = (provider: object, member: object = {}) => ({
  ...healthy,
  clients: [{ ...code, ...member }],
  plugins: [{ name: 'sign-in', providers: [{ ...acme, ...provider }], passwords: false }],
})

async function findingsIn(
  content: object,
): Promise<readonly (readonly [id: string, severity: string, where: string])[]> {
  const { out } = await printed('check', '--json', '--config', written(content).file)
  return ofConfiguration(JSON.parse(out)).map(({ id, severity, where }) => [id, severity, where])
}

const cases: readonly (readonly [id: string, content: object])[] = [
  ['store-unencrypted', { ...healthy, storage: redis }],
  ['upstream-private', withProvider({ allowPrivateAddresses: true })],
  ['identity-provider-unknown', withProvider({}, { identityProviders: ['acme', 'of-my-users'] })],
  ['abuse-control-off', { ...healthy, abuseControl: { enabled: false } }],
  ['metrics-public', { ...healthy, metrics: { port: 9464, host: '0.0.0.0' } }],
  ['scope-unused', { ...healthy, scopes: [...healthy.scopes, { name: 'api2', audience: 'https://api2.example.com' }] }],
]

test.each(cases)('%s is a finding, and with check.accept an accepted one', async (id, content) => {
  const before = await findingsIn(content)
  const after = await findingsIn({ ...content, check: { accept: [id] } })
  expect(before.map(([rule]) => rule)).toContain(id)
  // The place stays, so that the operator sees what is accepted. All others are as before.
  const accepted = before.map(([rule, severity, where]) => [rule, rule === id ? 'accepted' : severity, where])
  expect([...after].sort()).toEqual(accepted.sort())
})

test('the text shows what is accepted, at the end, and counts it', async () => {
  const content = { ...healthy, abuseControl: { enabled: false }, check: { accept: ['abuse-control-off'] } }
  const { code: exit, out } = await printed('check', '--config', written(content).file)
  expect(exit).toBe(0)
  expect(out).toMatch(/^accepted abuse-control-off\n {2}at {6}abuseControl.*\n/u)
  expect(out).toMatch(/\n\n0 error, 0 warning, 0 info, 1 accepted\n$/u)
})

test('what no longer occurs is a warning', async () => {
  const content = { ...healthy, check: { accept: ['metrics-public', 'upstream-private'] } }
  expect(await findingsIn(content)).toEqual([
    ['acceptance-unused', 'warning', 'check.accept[0]'],
    ['acceptance-unused', 'warning', 'check.accept[1]'],
  ])
})

describe('an error', () => {
  const clock = { id: 'store-clock', where: 'storage', reason: 'x', remedy: 'y', source: 'z' }

  test('is accepted by no name: a finding can be more severe than its rule', () => {
    const severe = { ...clock, severity: 'error' as const }
    expect(withAccepted([severe], ['store-clock'])).toEqual([severe])
  })

  test('hides others, so nothing is called unused beside it', () => {
    const unusable = { ...clock, id: 'store-unusable', severity: 'error' as const }
    expect(withAccepted([unusable], ['key-old'])).toEqual([unusable])
  })

  test.each<[id: unknown, hint?: string]>([
    ...rules.flatMap(({ id, severity }): [string][] => (severity === 'error' ? [[id]] : [])),
    ['acceptance-unused'],
    ['store-unencryptd', '; did you mean store-unencrypted?'],
    [5],
  ])('or another text is refused in check.accept: %s', (id, hint) => {
    const problem = 'check.accept[0] must be the id of a warning or an info of grantry check; errors cannot be accepted'
    const parsed = () => parseConfiguration(configurationSchema, { ...healthy, check: { accept: [id] } }, '')
    expect(parsed).toThrow(hint === undefined ? problem : `${problem}${hint}`)
  })
})

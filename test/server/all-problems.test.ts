import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { healthy } from './doctor/configurations.ts'
import { sharePackagesWithModules } from './packages-of-modules.ts'
import { printed } from './printed.ts'

sharePackagesWithModules()
const base = sharedDirectory('all-problems')
const valid = { ...healthy, issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' }, keys: {} }
const [client] = healthy.clients

let count = 0
async function problemsIn(configuration: object): Promise<readonly string[]> {
  count += 1
  const file = join(base, `c${count}.json`)
  writeFileSync(file, JSON.stringify(configuration))
  const { code, out } = await printed('check', '--json', '--config', file)
  expect(code).toBe(1)
  const { findings } = JSON.parse(out) as { findings: readonly { id: string; reason: string }[] }
  const invalid = findings.filter(({ id }) => id === 'configuration-invalid')
  return invalid.map(({ reason }) => reason.replace(`${file}: `, ''))
}

const unset = '$' + '{GRANTRY_TEST_UNSET}'

test('check reports the mistakes of all members at the same time', async () => {
  const { clients } = valid
  const problems = await problemsIn({
    ...valid,
    isuer: 'http://127.0.0.1:8484',
    port: 8080,
    trustedProxies: true,
    keys: { encryptionSecret: unset },
    clients: [
      { ...client, pkce: true, redirectUris: 'https://a.example/' },
      { ...client, clientId: 'b', scopes: ['nonsense', 'other'] },
      { ...client, clientId: 'c', grantTypes: ['magic'] },
      ...clients,
    ],
  })
  expect(problems).toEqual([
    expect.stringMatching(/^keys\.encryptionSecret needs the environment variable GRANTRY_TEST_UNSET/u),
    expect.stringMatching(/^isuer is not a known option; did you mean issuer\?/u),
    expect.stringMatching(/^port is not a known option; did you mean --port\? /u),
    expect.stringMatching(/^trustedProxies must be a number/u),
    expect.stringMatching(/^clients\[0\] \("web"\): pkce is not a known option; did you mean requirePkce\?/u),
    expect.stringMatching(/^clients\[0\] \("web"\): redirectUris must be an array of URIs/u),
    expect.stringMatching(/^clients: b has the scope nonsense, /u),
    expect.stringMatching(/^clients: b has the scope other, /u),
    expect.stringMatching(/^clients: c uses the grant type magic, /u),
  ])
})

test('check reports wrong keys beside a client that names what does not exist, and a plugin with a mistake', async () => {
  const clients = [{ ...client, scopes: ['nonsense'] }]
  const keys = [{ kty: 'EC' }]
  const wrongKey = expect.stringMatching(/^keys/u)
  const wrongScope = expect.stringMatching(/^clients: \S+ has the scope nonsense, /u)
  expect(await problemsIn({ ...valid, keys, clients })).toEqual([wrongScope, wrongKey])
  const plugins = [{ name: 'password' }]
  const wrongPlugin = expect.stringMatching(/^plugins\[0\] \("password"\)\.name password is always active/u)
  expect(await problemsIn({ ...valid, keys, plugins })).toEqual([wrongPlugin, wrongKey])
})

test('check names the position of a client that others hide', async () => {
  const problems = await problemsIn({
    ...valid,
    clients: [{ ...client, accessTokenLifetime: 'x' }, client, client, { ...client, clientId: 'd', enabled: 1 }],
  })
  expect(problems).toEqual([
    expect.stringMatching(/^clients\[0\] \("web"\): accessTokenLifetime /u),
    expect.stringMatching(/^clients: two clients have the clientId /u),
    expect.stringMatching(/^clients\[3\] \("d"\): enabled /u),
  ])
})

test.each([
  ['plugins', { plugins: 'x', clients: [{ ...client, grantTypes: ['magic'] }] }, /^plugins must be an array/u],
  ['clients', { clients: 5 }, /^clients must be an array of clients/u],
])('check does not report what is only wrong because %s are', async (_what, mistake, sentence) => {
  expect(await problemsIn({ ...valid, ...mistake })).toEqual([expect.stringMatching(sentence)])
})

test('check reports each malformed secret', async () => {
  const secrets = [{ sha256: 'x' }, {}]
  expect(await problemsIn({ ...valid, clients: [{ ...client, secrets }] })).toEqual([
    expect.stringMatching(/^clients\[0\] \("web"\): secrets\[0\]\.sha256 /u),
    expect.stringMatching(/^clients\[0\] \("web"\): secrets\[1\] has neither /u),
  ])
})

test.each([
  [
    { storage: { driver: 'postgres', url: 'postgres://127.0.0.1/x' } },
    /^storage\.driver must be one of memory, filesystem, sqlite, postgresql, redis; /u,
  ],
  [
    { storage: { url: 'redis://127.0.0.1' } },
    /^storage\.driver is required: one of memory, filesystem, sqlite, postgresql, redis/u,
  ],
  [
    { keys: { jwks: './missing.json' }, clients: [{ ...client, id: 'x' }] },
    /^keys\.jwks .+missing\.json: it cannot be read/u,
  ],
  [{ host: '0.0.0.0' }, /^host is not a known option; did you mean --host\? /u],
  [{ clients: [{ ...client, secrets: ['plain-secret'] }] }, /secrets\[0\] must be an object .+ hashSecret\(\)/u],
  [{ clients: [{ ...client, callbackUrls: [] }] }, /did you mean redirectUris\?/u],
  [{ clients: [{ ...client, secrets: 'plain-secret' }] }, /secrets must be an array of .+ hashSecret\(\)/u],
  [{ clients: ['web'] }, /^clients\[0\] must be an object such as \{ clientId: 'web' \}, not a string/u],
  [{ scopes: ['api1'] }, /^scopes\[0\] must be an object such as \{ name: 'api1' \}, not a string/u],
  [{ clients: [{ ...client, redirectUris: ['a.example/cb'] }] }, /absolute URI such as https:/u],
  [{ clients: [{ ...client, scopes: ['api9'] }] }, /the scope api9, .+ add \{ name: 'api9' \} to scopes$/u],
])('check explains %j', async (changed, problem) => {
  const [first = ''] = await problemsIn({ ...valid, ...changed })
  expect(first).toMatch(problem)
  expect(first).not.toContain('plain-secret')
})

test('check reports the misspelled members of a plugin module', async () => {
  writeFileSync(
    join(base, 'words.mjs'),
    `import { defineEndpoint, defineGrant, definePlugin, defineTokenBinding } from '@grantry/core'
const prove = () => undefined
const params = { '~standard': { version: 1, vendor: 'words', validate: (value) => ({ value }) } }
const endpoint = { name: 'words', path: '/words', methods: ['POST'], caller: 'anyone', handle: prove }
export default definePlugin('words', [
  defineEndpoint({ ...endpoint, guessible: true }),
  defineTokenBinding({ member: 'word', prove, bindRefreshTokens: () => true }),
  defineGrant({ grantType: 'urn:example:word', params, handle: prove, publicclients: true }),
])`,
  )
  expect(await problemsIn({ ...valid, plugins: ['./words.mjs'] })).toEqual([
    'plugins: the endpoint words of words: guessible is not a known member; did you mean guessable?',
    'plugins: the token binding word of words: bindRefreshTokens is not a known member; did you mean bindsRefreshTokens?',
    'plugins: the grant urn:example:word of words: publicclients is not a known member; did you mean publicClients?',
  ])
})

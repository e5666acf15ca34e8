// A file with one entry that the server would refuse is imported without it: `apply` would refuse the whole file.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { applied, imported, token } from './setting.ts'

const directory = sharedDirectory('import-unusable')
const secret = 'a-secret-of-this-client'
const uri = 'https://web.example.com/cb'
const machine = { client_id: 'machine', client_secret: secret, grant_types: ['client_credentials'], scope: 'read' }

test('a client that the server would refuse is disabled or left out, and the others are applied', async () => {
  const web = { client_secret: secret, scope: 'openid', redirect_uris: [uri] }
  const { file, declared, report } = await imported(directory, 'hydra', [
    machine,
    { ...web, client_id: 'no-uris', redirect_uris: ['https://web.example.com/*'] },
    { ...web, client_id: 'bad-logo', logo_uri: 'not a URL', policy_uri: 'javascript:alert(1)' },
    { ...web, client_id: 'bad-logout', backchannel_logout_uri: 'not a URL' },
    { ...web, client_id: 'no-key', client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt' },
    { ...web, client_id: 'twice' },
    { ...web, client_id: 'twice', scope: 'openid read' },
    {
      ...web,
      client_id: 'large',
      redirect_uris: Array.from({ length: 3000 }, (_, index) => `${uri}/${index}-is-long`),
    },
    { ...web, client_id: 'odd-scope', scope: 'openid caf\u00e9' },
    {
      ...machine,
      client_id: 'exchange',
      grant_types: ['client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange'],
    },
  ])
  const clients = declared.clients as readonly {
    readonly clientId: string
    readonly enabled?: boolean
    readonly scopes: readonly string[]
  }[]
  expect(clients.map(({ clientId, enabled }) => [clientId, enabled])).toEqual([
    ['machine', undefined],
    ['no-uris', false],
    ['bad-logo', undefined],
    ['no-key', false],
    ['twice', undefined],
    ['odd-scope', undefined],
    ['exchange', undefined],
  ])
  expect(clients.find(({ clientId }) => clientId === 'bad-logo')).not.toHaveProperty('logoUri')
  expect(clients.find(({ clientId }) => clientId === 'odd-scope')?.scopes).toEqual(['openid'])
  for (const start of [
    'client no-uris: is disabled: no-uris uses authorization_code but has no redirectUris',
    'client bad-logo: logoUri: was left out: ',
    'client bad-logout: was left out: backchannelLogoutUri',
    'client no-key: is disabled: no-key has tokenEndpointAuthMethod private_key_jwt',
    'client twice: was left out: another one has the same id or name',
    'client large: was left out: the entry large takes more than 65536 characters',
    'scope caf\u00e9: was left out: ',
  ])
    expect(report.filter((line) => line.startsWith(start))).toHaveLength(1)
  // The plugin of this grant type needs a function, so this configuration has none.
  const without = { ...declared, clients: clients.filter(({ clientId }) => clientId !== 'exchange') }
  writeFileSync(file, JSON.stringify(without))
  const form = { grant_type: 'client_credentials', scope: 'read' }
  const plugins = [{ name: 'sign-in' }, { name: 'client-assertion' }]
  expect(await applied(directory, file, [[['machine', secret], form]], plugins)).toEqual([token])
})

test('names of the prototype of objects are names', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']
  const { declared } = await imported(
    directory,
    'hydra',
    `[${names.map((name) => JSON.stringify({ ...machine, client_id: `of-${name.replaceAll('_', '')}`, scope: name })).join(',')}]`,
  )
  expect(declared.scopes).toEqual(names.map((name) => ({ name })))
  expect((declared.clients as readonly { readonly scopes: unknown }[]).map(({ scopes }) => scopes)).toEqual(
    names.map((name) => [name]),
  )
  const { declared: ofDuende } = await imported(directory, 'identityserver', {
    Clients: [{ ClientId: 'constructor', AllowedGrantTypes: ['client_credentials'], AllowedScopes: names }],
    ApiScopes: names.map((Name) => ({ Name })),
  })
  expect(ofDuende.scopes).toEqual(names.map((name) => ({ name })))
})

test('users that two entries claim, and numbers that JSON does not keep, are left out', async () => {
  const user = (id: string, username: string, more: object = {}) => ({ user_id: id, username, ...more })
  const { declared, report } = await imported(directory, 'auth0', {
    clients: [{ client_id: 'm', client_secret: secret, grant_types: ['client_credentials'] }],
    users: [
      user('auth0|1', 'ann@example.com'),
      user('google-oauth2|1', 'Ann@Example.com'),
      user('auth0|1', 'bob'),
      user('auth0|2', 'eve', { blocked: 'perhaps' }),
    ],
  })
  expect((declared.users as readonly { readonly sub: string }[]).map(({ sub }) => sub)).toEqual(['auth0|1', 'auth0|2'])
  expect(declared.users[1]).toMatchObject({ active: false })
  expect(report).toContain('user ann@example.com, user bob: was left out: another one has the same id or name')
  const numbers = await imported(
    directory,
    'identityserver',
    `[{"ClientId":"m","AllowedGrantTypes":["client_credentials"],"AccessTokenLifetime":1e400,"RequireDPoP":1e400,"ClientSecrets":[{"Value":"${'A'.repeat(43)}=","Expiration":1e400},{"Type":"JWK","Value":"{\\"kty\\":\\"EC\\",\\"n\\":9007199254740993}"}]}]`,
  )
  expect(numbers.declared).toEqual({})
  expect(numbers.report).toContain('client m: was left out: it has a number that JSON does not keep exactly')
})

test('long digits take no longer than their length', async () => {
  const digits = '9'.repeat(50_000)
  const { report } = await imported(directory, 'hydra', [
    { ...machine, client_credentials_grant_access_token_lifespan: digits, client_secret_expires_at: digits },
  ])
  expect(report).toContain(
    'client machine: client_credentials_grant_access_token_lifespan: is no duration from a second to ten years',
  )
  expect(report).toContain(
    'client machine: client_secret: was left out: its time of expiry cannot be read; the client gets a new secret',
  )
})

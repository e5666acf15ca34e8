import { importOidcProvider } from '@grantry/administration/import'
import {
  defineHostFunctions,
  definePlugin,
  hostKey,
  type JsonObject,
  type Kit,
  metadataName,
  metadataNames,
  type Plugins,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { dpop } from '@grantry/plugins/dpop'
import { mtls } from '@grantry/plugins/mtls'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { registration } from '@grantry/plugins/registration'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import * as documents from '../client-metadata/parties.ts'
import { rows } from './metadata-table.ts'
import { issuer, metadata, setUp } from './parties.ts'

const everything = () => [
  dpop(),
  mtls(),
  clientAssertion(),
  authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization(), backChannelLogout()] }),
]
const nothing = () => [authorizationEndpoint({ interaction: hostSignIn })]
const base = () => [authorizationCode(), proofKey(), refreshToken()]

const methods = ['none', 'client_secret_basic', 'private_key_jwt', 'tls_client_auth'] as const
const registering = (plugins: Plugins, more: object = {}) => {
  const ours = registration({ scopes: ['openid', 'offline_access'], authenticationMethods: [...methods], open: true })
  return setUp({}, { plugins: [...base(), plugins, ours], ...more })
}

function describing(plugins: Plugins, document: object) {
  const hosts = documents.createHosts({ [documents.clientId]: { body: { ...documents.document, ...document } } })
  const ours = clientMetadata({ scopes: ['mcp:tools', 'offline_access'], fetch: hosts.fetch })
  return documents.setUp(hosts, {}, { plugins: [...base(), plugins, ours] })
}

const sets = [everything, nothing] as const
const cases = sets.flatMap((plugins, index) =>
  rows.map((row) => ({
    ...row,
    plugins,
    outcome: row.registered[index as 0 | 1],
    inDocument: (row.document ?? row.registered)[index as 0 | 1],
    has: plugins.name,
  })),
)

test('each name of the table has a row, and each row a name', () => {
  expect(new Set(rows.map(({ name }) => name)), 'rows of test/registration/metadata-table.ts').toEqual(
    new Set(Object.keys(metadataNames)),
  )
})

test('members of objects are no names of metadata', () => {
  expect(['constructor', 'toString', '__proto__', 'CLIENT_NAME', ''].filter(metadataName)).toEqual([])
})

describe('registered', () => {
  test.each(cases)('$name $value is $outcome with $has: $why', async ({ name, value, more, outcome, plugins }) => {
    const f = await registering(plugins())
    const { status, body } = await f.register({ ...metadata, ...more, [name]: value })
    expect([status, body.error]).toEqual(outcome === 'refused' ? [400, 'invalid_client_metadata'] : [201, undefined])
    if (outcome === 'kept') expect(body[name]).toEqual(value)
    if (outcome === 'ignored') expect(body[name]).not.toEqual(value)
    if (outcome === 'refused') return
    // Another process, or another day: the stored registration describes the same client.
    const read = await f.send(body.registration_client_uri, { method: 'GET', token: body.registration_access_token })
    expect(read.body[name]).toEqual(body[name])
  })
})

describe('in a document', () => {
  test.each(cases)(
    '$name $value is $inDocument with $has: $why',
    async ({ name, value, more, inDocument, plugins }) => {
      const f = await describing(plugins(), { ...more, [name]: value })
      await f.authorize({ scope: 'mcp:tools' })
      const reasons = f
        .failures()
        .filter((reason) => /demand_unsupported|metadata_malformed|method_refused|keys_missing/u.test(reason))
      expect(reasons.length).toBe(inDocument === 'refused' ? 1 : 0)
    },
  )
})

describe('imported', () => {
  test.each(rows)('$name $value is $imported', async ({ name, value, more, imported }) => {
    const client = {
      client_id: 'app',
      client_secret: 'oFZ4mG2hV8wQ1xY7bN5tR3kL',
      redirect_uris: documents.document.redirect_uris,
      scope: 'openid',
      ...more,
      [name]: value,
    }
    const { clients, findings } = await importOidcProvider([{ path: 'clients.json', content: [client] }], {} as never)
    const lost = findings.filter(({ member, outcome }) => member === name && outcome === 'lost')
    const member = metadataName(name)?.member
    expect(lost.map(({ outcome }) => outcome)).toEqual(imported === 'lost' ? ['lost'] : [])
    if (imported === 'carried' && member !== undefined) expect(clients[0]?.[member]).toEqual(value)
    if (lost.length > 0 && metadataName(name)?.loss) expect(lost[0]?.consequence).toBe(metadataName(name)?.loss)
  })
})

/** Members that registrations and documents read themselves, with rules of their own. */
const readThere = ['jwks_uri', 'client_name', 'client_uri', 'logo_uri', 'policy_uri', 'tos_uri']
const readByName = Object.keys(metadataNames).filter(
  (name) => metadataName(name)?.member !== undefined && !readThere.includes(name),
)

const members = rows.filter(({ name, registered }) => metadataName(name)?.member && registered[0] === 'kept')
describe('in the configuration', () => {
  test.each(members)(
    'the member of $name is accepted with its plugin',
    async ({ name, value, registered, more = {} }) => {
      const member = String(metadataName(name)?.member)
      const method = more.token_endpoint_auth_method
      const client = {
        clientId: 'app',
        ...(method === undefined ? { public: true } : { tokenEndpointAuthMethod: String(method) }),
        ...(more.jwks !== undefined && { jwks: more.jwks }),
        grantTypes: ['authorization_code'],
        scopes: ['openid'],
        redirectUris: documents.document.redirect_uris,
        [member]: value,
      }
      const configured = async (plugins: Plugins) =>
        createTestProvider({ issuer, clients: [client as never], plugins: [...base(), plugins] }).then(
          () => 'accepted',
          ({ message }: Error) => message,
        )
      expect(await configured(everything())).toBe('accepted')
      if (registered[1] !== 'kept') expect(await configured(nothing())).toMatch(new RegExp(`jwks|${member}`, 'u'))
    },
  )

  test('the names that plugins read in metadata are those of the table, for the same members', async () => {
    const names = hostKey<{ readonly of: () => Kit['clientMetadata'] }>('reading-names', 'reading()')
    const reading = definePlugin('reading', [defineHostFunctions(names, (kit) => ({ of: () => kit.clientMetadata }))])
    const f = await registering([...everything(), reading])
    const read = [...f.provider.use(names).of()].map(([name, { member }]) => [name, member] as const)
    expect(
      Object.fromEntries(read),
      'clientMetadata of a plugin, as in plugins/shared/client-members.ts, and directory/metadata-names.ts of the core differ',
    ).toEqual(Object.fromEntries(readByName.map((name) => [name, metadataName(name)?.member])))
  })
})

describe('the discovery document announces', () => {
  const announced = (document: JsonObject, member: string) => ![undefined, false].includes(document[member] as false)
  test.each(cases.filter(({ name, value }) => metadataName(name)?.announced && value !== 'HS256' && value !== 'PS512'))(
    'what is kept, with $has: $name',
    async ({ name, registered, plugins }) => {
      const f = await registering(plugins())
      const member = String(metadataName(name)?.announced)
      const isKept = registered[plugins === everything ? 0 : 1] === 'kept'
      const document = f.provider.metadata
      if (isKept) expect(announced(document, member)).toBe(true)
      else if (name === 'subject_type') expect(document[member]).toEqual(['public'])
      else if (!rows.some((row) => row.name === name && row.registered.includes('kept')))
        expect(announced(document, member)).toBe(false)
    },
  )
})

describe('of several algorithms for identity tokens', () => {
  const list = 'id_token_signing_alg_values_supported'
  const member = 'id_token_signed_response_alg'
  test.each([
    [['PS512', 'ES256'], 201, 'ES256'],
    [['PS512'], 400, undefined],
    [['none'], 400, undefined],
    [[], 201, undefined],
    ['ES256', 201, undefined],
  ] as const)('%j', async (algorithms, expected, chosen) => {
    const f = await registering(everything())
    const { status, body } = await f.register({ ...metadata, [list]: algorithms })
    expect([status, body[member]]).toEqual([expected, chosen])
  })
})

test.each([
  ['none', {}],
  ['two', { tls_client_auth_subject_dn: 'CN=app', tls_client_auth_san_dns: 'app.example.com' }],
  ['one that is no name', { tls_client_auth_san_ip: 'app.example.com' }],
])('a client with tls_client_auth and %s is refused', async (_, names) => {
  const f = await registering(everything())
  const { status, body } = await f.register({ ...metadata, token_endpoint_auth_method: 'tls_client_auth', ...names })
  expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
})

// What each `grantry import` does alike: one entry that cannot be used does not refuse the file, names are names, and the
// report is ordered by what users and APIs notice.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { imported } from './setting.ts'

const directory = sharedDirectory('import-every')
const secret = 'a-secret-of-this-client'
const sha256 = createHash('sha256').update(secret).digest('base64')
const uri = 'https://web.example.com/cb'
const digits = '9'.repeat(50_000)
const ids = ['machine', 'second', 'no-uri', 'pairwise'] as const

/** The machines have the scope `constructor`. */
const registered = ids.map((client_id) => ({
  client_id,
  client_secret: secret,
  somethingNew: { of: client_id },
  ...(client_id === 'machine' || client_id === 'second'
    ? { grant_types: ['client_credentials'], scope: 'constructor' }
    : { scope: 'openid', redirect_uris: client_id === 'no-uri' ? ['https://*.example.com/cb'] : [uri] }),
  ...(client_id === 'pairwise' && { subject_type: 'pairwise' }),
  ...(client_id === 'second' && { client_credentials_grant_access_token_lifespan: digits, default_max_age: digits }),
}))

const keycloak = {
  realm: 'r',
  clients: ids.map((clientId) => ({
    clientId,
    secret,
    somethingNew: { of: clientId },
    standardFlowEnabled: clientId === 'no-uri' || clientId === 'pairwise',
    serviceAccountsEnabled: clientId === 'machine' || clientId === 'second',
    redirectUris: clientId === 'pairwise' ? [uri] : clientId === 'no-uri' ? ['https://*.example.com/cb'] : [],
    defaultClientScopes: ['constructor'],
    ...(clientId === 'pairwise' && {
      protocolMappers: [{ name: 'p', protocolMapper: 'oidc-sha256-pairwise-sub-mapper' }],
    }),
    ...(clientId === 'second' && {
      attributes: { 'access.token.lifespan': digits, 'client.secret.expiration.time': digits },
    }),
  })),
  clientScopes: [{ name: 'constructor', protocol: 'openid-connect' }],
}

const identityServer = {
  ApiScopes: [{ Name: 'constructor' }],
  Clients: ids.map((ClientId) => ({
    ClientId,
    ClientSecrets: [{ Value: sha256, ...(ClientId === 'second' && { Expiration: digits }) }],
    SomethingNew: { of: ClientId },
    ...(ClientId === 'machine' || ClientId === 'second'
      ? { AllowedGrantTypes: ['client_credentials'], AllowedScopes: ['constructor'] }
      : {
          AllowedGrantTypes: ['authorization_code'],
          AllowedScopes: ['openid'],
          RedirectUris: ClientId === 'no-uri' ? ['https://*.example.com/cb'] : [uri],
        }),
    ...(ClientId === 'pairwise' && { PairWiseSubjectSalt: 'salt' }),
    ...(ClientId === 'second' && { AccessTokenLifetime: digits }),
  })),
}

const auth0 = {
  resourceServers: [{ identifier: 'https://api.example', scopes: [{ value: 'constructor' }] }],
  clientGrants: ['machine', 'second'].map((client_id) => ({
    client_id,
    audience: 'https://api.example',
    scope: ['constructor'],
  })),
  clients: ids.map((client_id) => ({
    client_id,
    name: client_id,
    client_secret: secret,
    somethingNew: { of: client_id },
    ...(client_id === 'machine' || client_id === 'second'
      ? { grant_types: ['client_credentials'] }
      : {
          grant_types: ['authorization_code'],
          callbacks: client_id === 'no-uri' ? ['https://*.example.com/cb'] : [uri],
        }),
    ...(client_id === 'pairwise' && { subject_type: 'pairwise' }),
    ...(client_id === 'second' && { jwt_configuration: { lifetime_in_seconds: digits } }),
  })),
}

const systems: readonly (readonly [system: string, content: object])[] = [
  ['keycloak', keycloak],
  ['identityserver', identityServer],
  ['hydra', registered],
  ['auth0', auth0],
  ['oidc-provider', registered],
]

const headings = [
  'Breaks a sign-in, a sign-out or a request for tokens:',
  'Changes the sub of users:',
  'Changes a token or a response:',
  'Depends on its meaning in the other system:',
  'Changes nothing that users or APIs need:',
]

interface Declared {
  readonly clients: readonly { readonly clientId: string; readonly enabled?: boolean; readonly scopes?: unknown }[]
  readonly scopes: readonly { readonly name: string }[]
}

describe.each(systems)('%s', (system, content) => {
  test('carries what it can, and says what is changed and lost, the worst first, and common lines once', async () => {
    const result = await imported(directory, system, content)
    const { clients, scopes } = result.declared as Declared
    expect(clients.map(({ clientId, enabled }) => [clientId, enabled])).toEqual([
      ['machine', undefined],
      ['second', undefined],
      ['no-uri', false],
      ['pairwise', undefined],
    ])
    expect(scopes.map(({ name }) => name)).toEqual(['constructor'])
    expect(clients[0]?.scopes).toEqual(['constructor'])
    // It is in no line of the file or the report.
    expect(result.text + result.printed).not.toContain(digits.slice(0, 1000))
    expect(result.text + result.printed).not.toContain(secret)

    const lines = result.printed.trim().split('\n')
    const notes = lines.filter((line) => line.startsWith('  '))
    expect(notes.filter((line) => !/ \((?:changed|lost)\)$/u.test(line))).toEqual([])
    expect(new Set(notes).size).toBe(notes.length)
    const printedHeadings = lines.filter((line) => headings.includes(line))
    expect(printedHeadings).toEqual(headings.filter((heading) => printedHeadings.includes(heading)))
    const under = (heading: string | undefined, text: string) => {
      const place = notes.filter((line) => line.includes(text))
      expect({ text, place }).toEqual({ text, place: [expect.any(String)] })
      const before = lines.slice(0, lines.indexOf(place[0] ?? ''))
      expect({ text, of: before.filter((line) => headings.includes(line)).at(-1) }).toEqual({ text, of: heading })
    }
    under(headings[0], 'all clients: sessions, refresh tokens and reference tokens are not in an export')
    under(headings[0], 'client no-uri: is disabled: no-uri uses authorization_code but has no redirectUris')
    under(headings[1], 'users of the client get another sub')
    under(headings[2], 'all clients: tokens are signed with ES256')
    under(
      headings[3],
      'client no-uri, client pairwise: '.concat(system === 'identityserver' ? 'SomethingNew' : 'somethingNew'),
    )
    expect(lines.at(-1)).toMatch(/^Imported 4 clients \(\d with secrets, 1 disabled\), 1 scope, 0 users /u)
  })
})

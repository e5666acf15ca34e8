// `grantry import auth0`: a directory of the Deploy CLI, and users with the hashes that Auth0 exports on request.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'
import { applied, refusal, token } from './setting.ts'

const directory = sharedDirectory('import-auth0')
const secret = 'x9Yw-8vU7tS6rQ5pO4nM3lK2jI1hG0fE'

const files: Readonly<Record<string, unknown>> = {
  'clients/Web.json': {
    name: 'Web',
    client_id: 'AbCdEf0123456789',
    client_secret: secret,
    app_type: 'regular_web',
    is_first_party: true,
    oidc_conformant: true,
    callbacks: ['https://web.example.com/callback', 'https://*.preview.example.com/callback'],
    allowed_logout_urls: ['https://web.example.com'],
    web_origins: ['https://web.example.com'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password', 'implicit'],
    jwt_configuration: { alg: 'RS256', lifetime_in_seconds: 36_000, secret_encoded: false },
    refresh_token: {
      rotation_type: 'rotating',
      expiration_type: 'expiring',
      leeway: 15,
      token_lifetime: 2_592_000,
      idle_token_lifetime: 1_296_000,
      infinite_token_lifetime: false,
    },
    token_endpoint_auth_method: 'client_secret_post',
    mobile: { android: {} },
  },
  'clients/Spa.json': {
    name: 'Spa',
    client_id: 'SpaSpaSpa',
    app_type: 'spa',
    callbacks: ['https://spa.example.com'],
    grant_types: ['authorization_code'],
  },
  'clients/Unnamed.json': { name: 'Unnamed', app_type: 'spa' },
  'resource-servers/Billing.json': {
    name: 'Billing',
    identifier: 'https://billing.example.com',
    scopes: [{ value: 'read:bills', description: 'Read' }],
    token_lifetime: 86_400,
  },
  'grants/Web.json': { client_id: 'Web', audience: 'https://billing.example.com', scope: ['read:bills'] },
  'users/users.json': [
    {
      _id: { $oid: '60425dc43519d90068f82973' },
      email: 'alice@example.com',
      email_verified: true,
      passwordHash: foreignHashes['bcrypt $2b$'],
      tenant: 'demo',
      connection: 'Username-Password-Authentication',
      app_metadata: { plan: 'gold' },
    },
    { user_id: 'google-oauth2|1', email: 'bob@example.com', blocked: true, passwordHash: 'md5:abc' },
  ],
  'tenant.json': { friendly_name: 'Demo' },
}

test('clients, APIs and users of Auth0', async () => {
  const root = join(directory, 'tenant')
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), JSON.stringify(content))
  }
  const [out, reportFile] = [join(directory, 'auth0.json'), join(directory, 'report.json')]
  const line = ['import', 'auth0', root, '--out', out, '--report', reportFile, '--json']
  expect(await printed(...line)).toEqual({ code: 0, out: '', err: '' })
  const declared = JSON.parse(readFileSync(out, 'utf8'))
  expect(declared.scopes).toEqual([{ name: 'read:bills', audience: 'https://billing.example.com' }])
  expect(declared.clients).toHaveLength(2)
  expect(declared.clients).toContainEqual(
    expect.objectContaining({
      clientId: 'AbCdEf0123456789',
      tokenEndpointAuthMethod: 'client_secret_post',
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
      scopes: ['openid', 'profile', 'email', 'offline_access', 'read:bills'],
      redirectUris: ['https://web.example.com/callback'],
      refreshToken: { retryWindow: 15, absoluteLifetime: 2_592_000, slidingLifetime: 1_296_000 },
      identityTokenLifetime: 36_000,
    }),
  )
  const findings: readonly { entry: string; member?: string; what: string }[] = JSON.parse(
    readFileSync(reportFile, 'utf8'),
  )
  const report = findings.map(({ entry, member, what }) => `${entry.replace(`${root}/`, '')}: ${member ?? ''}: ${what}`)
  for (const sentence of [
    'client Unnamed: : was left out: it has no client_id: export with --export_ids',
    'client AbCdEf0123456789: grant_types: the grant type implicit has no counterpart',
    'client AbCdEf0123456789: mobile: has no counterpart',
    'resource server https://billing.example.com: token_lifetime: has no counterpart',
    'user alice@example.com: app_metadata: has no counterpart',
    'tenant.json: : has no counterpart',
  ]) {
    expect(report).toContain(sentence)
  }
  expect(JSON.stringify(findings)).not.toContain(secret)
  const signIn = (typed: string) =>
    [
      undefined,
      {
        grant_type: 'password',
        client_id: 'AbCdEf0123456789',
        client_secret: secret,
        username: 'alice@example.com',
        password: typed,
        scope: 'openid read:bills',
      },
    ] as const
  expect(await applied(directory, out, [signIn(password), signIn('wrong')])).toEqual([token, refusal('invalid_grant')])
})

test('YAML is refused with the way to JSON', async () => {
  const { code, err } = await printed('import', 'auth0', 'tenant.yaml')
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('a0deploy export --format=directory') })
})

import { clientSchema, scopeSchema } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { configurationSchema } from '../support/configuration-schema.ts'
import { client, hashed, healthy, strong, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

/** A valid configuration in memory. Each case changes one value. */
const valid = { ...healthy, issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' } }
const withClient = (more: object) => ({ ...valid, clients: [{ ...client, ...more }] })
const withScope = (more: object) => ({ ...valid, scopes: [{ ...healthy.scopes[0], ...more }] })
const withUser = (more: object) => ({ ...valid, users: [{ sub: '1', username: 'alice', password: 'x', ...more }] })
const redis = (more: object) => ({
  ...valid,
  storage: { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1, ...more },
})
const withPlugin = (plugin: object) => ({ ...valid, plugins: [plugin] })
const withDevice = (more: object) =>
  withPlugin({ name: 'device-authorization', verificationUri: 'https://login.example.com/device', ...more })
const withAssertions = (more: object) => withPlugin({ name: 'client-assertion', ...more })
const unset = '$' + '{GRANTRY_TEST_UNSET}'
/** [an invalid configuration, the path that the message must name, what else it must contain] */
type Case = readonly [content: unknown, path: string, says?: string]
const cases: readonly Case[] = [
  [{ ...valid, $schema: 1 }, '$schema', 'must be the URL of a JSON Schema'],
  [{ ...valid, issuer: 5 }, 'issuer', 'must be'],
  [{ ...valid, issuer: 'id.example.com' }, 'issuer'],
  [{ ...valid, issuer: 'ftp://id.example.com' }, 'issuer'],
  [{ ...valid, storage: 'redis' }, 'storage', 'must be an object, not a string'],
  [{ ...valid, keys: 'keys.json' }, 'keys', 'must be an object, not a string'],
  [{ ...valid, clients: 'web' }, 'clients', 'must be an array'],
  [{ ...valid, scopes: {} }, 'scopes', 'must be an array'],
  [{ ...valid, users: 'alice' }, 'users', 'must be an array'],
  [{ ...valid, plugins: './badge.mjs' }, 'plugins', 'must be an array'],
  [{ ...valid, endpoints: false }, 'endpoints', 'must be an object'],
  [{ ...valid, introspection: true }, 'introspection', 'must be an object'],
  [{ ...valid, log: 'debug' }, 'log', 'must be an object, not a string'],
  [{ ...valid, log: { level: 'verbose' } }, 'log.level', 'must be debug, info, warn, error or silent'],
  [{ ...valid, log: { format: 'logfmt' } }, 'log.format', 'must be json or text'],
  [{ ...valid, log: { file: './log' } }, 'log.file', 'is not a known option'],
  [{ ...valid, storageTimeLimit: 'x' }, 'storageTimeLimit', 'must be a number'],
  [{ ...valid, storageTimeLimit: 90 }, 'storageTimeLimit', 'must be 0.05 to 60'],
  [{ ...valid, hostTimeLimit: 90 }, 'hostTimeLimit', 'must be 0.05 to 60'],
  [{ ...valid, maxHostCalls: 0 }, 'maxHostCalls', 'must be at least 1'],
  [{ ...valid, clockTolerance: 'x' }, 'clockTolerance', 'must be a number'],
  [{ ...valid, clientTokenSubject: 'user' }, 'clientTokenSubject', '"none" or "client_id"'],
  [{ ...valid, clockTolerance: 61 }, 'clockTolerance', '0 to 60'],
  [{ ...valid, authorizationEndpoint: 1 }, 'authorizationEndpoint', 'must be a URL'],
  [{ ...valid, authorizationEndpoint: 'login' }, 'authorizationEndpoint', 'must be a URL'],
  [{ ...valid, bodyLimit: '64k' }, 'bodyLimit', 'must be a number'],
  [{ ...valid, abuseControl: false }, 'abuseControl', 'must be an object'],
  [{ ...valid, abuseControl: { enabled: 'no' } }, 'abuseControl.enabled', 'must be true or false'],
  [
    { ...valid, abuseControl: { credentials: { perAddress: { failures: 0 } } } },
    'abuseControl.credentials.perAddress.failures',
    'from 1 to 1000000',
  ],
  [{ ...valid, trustedProxies: -1 }, 'trustedProxies', '0 or more'],
  [{ ...valid, trustedProxies: true }, 'trustedProxies', 'must be a number'],
  [{ ...valid, idleTimeout: 0 }, 'idleTimeout', '1 to'],
  [{ ...valid, tls: { certificate: 'a.pem' } }, 'tls', 'key'],
  [{ ...valid, clientCertificate: true }, 'clientCertificate', 'must be an object'],
  [{ ...valid, clientCertificate: { header: 'a', format: 'pem', proxies: ['x'] } }, 'proxies[0]', 'an IP address'],
  [{ ...valid, maxRequests: 0 }, 'maxRequests', 'must be 1 or more'],
  [{ ...valid, maxBodies: 1.5 }, 'maxBodies', 'must be a whole number'],
  [{ ...valid, maxConnections: 'many' }, 'maxConnections', 'must be a number'],
  [{ ...valid, abuseControl: 'on' }, 'abuseControl'],
  [{ ...valid, console: 'yes' }, 'console', 'must be'],
  [{ ...valid, administration: 'yes' }, 'administration', 'must be true or false'],
  [{ ...valid, homePage: '/home' }, 'homePage', 'must be true or false'],
  [{ ...valid, tenants: { by: 'port' } }, 'tenants.by', 'must be path or host'],
  [{ ...valid, unavailableScopes: 'some' }, 'unavailableScopes', 'must be'],
  // Unknown keys on every level, with a suggestion.
  [{ ...valid, trustedProxy: 1 }, 'trustedProxy', 'did you mean trustedProxies?'],
  [{ ...valid, keys: { algoritm: 'ES256' } }, 'keys.algoritm', 'did you mean algorithm?'],
  [withClient({ redirectUri: [] }), 'clients[0]', 'redirectUri is not a known option; did you mean redirectUris?'],
  [withClient({ refreshToken: { slidinglifetime: 1 } }), 'clients[0]', 'did you mean slidingLifetime?'],
  [withClient({ secrets: [{ sha265: 'x' }] }), 'clients[0]', 'did you mean sha256?'],
  [withScope({ claim: [] }), 'scopes[0]', 'did you mean claims?'],
  [withUser({ user: 'a' }), 'users[0].user'],
  [{ ...valid, endpoints: { tokens: false } }, 'endpoints.tokens', 'did you mean token?'],
  [{ ...valid, introspection: { unrelatedScop: 'a' } }, 'introspection.unrelatedScop', 'mean unrelatedScope?'],
  [
    { ...valid, abuseControl: { passwords: { peruser: {} } } },
    'abuseControl.passwords.peruser',
    'did you mean perUser?',
  ],
  [{ ...valid, shutdownDelay: 301 }, 'shutdownDelay', 'must be 0 to 300 seconds'],
  [{ ...valid, mail: { from: 'id@example.com' } }, 'mail.url', 'is required'],
  [{ ...valid, metrics: 'on' }, 'metrics', 'must be true, false, or {'],
  [{ ...valid, metrics: { host: '127.0.0.1' } }, 'metrics.port', 'is required'],
  [{ ...valid, metrics: { port: 70_000 } }, 'metrics.port', 'must be a port from 0 to 65535'],
  [{ ...valid, console: 'yes' }, 'console', 'must be true, false, or'],
  [{ ...valid, console: { remot: true } }, 'console.remot', 'did you mean remote?'],
  [{ ...valid, storage: { driver: 'memory', dir: 'x' } }, 'storage.dir'],
  // Keys.
  [{ ...valid, keys: { algorithm: 'HS256' } }, 'keys.algorithm', 'must be one of'],
  [{ ...valid, keys: { algorithm: 'ES256', jwks: './keys.json' } }, 'keys'],
  [{ ...valid, keys: { algorithms: [] } }, 'keys.algorithms', 'must not be empty'],
  [{ ...valid, keys: { algorithms: ['ES256', 'ES256'] } }, 'keys.algorithms', 'must name each algorithm once'],
  [{ ...valid, keys: { rotateAfter: 60 } }, 'keys.rotateAfter', 'must be at least 600 seconds'],
  [{ ...valid, keys: { encryptionSecret: 'short' } }, 'keys.encryptionSecret', 'must be at least 32 characters'],
  [{ ...valid, keys: { jwks: './nowhere.json' } }, 'keys.jwks', 'cannot be read (ENOENT)'],
  [{ ...valid, keys: { jwks: '.' } }, 'keys.jwks', 'cannot be read (EISDIR)'],
  [{ ...valid, keys: { jwks: 5 } }, 'keys.jwks', 'must be the path'],
  // Clients.
  [withClient({ clientId: '' }), 'clients[0].clientId'],
  [withClient({ clientId: undefined }), 'clients[0].clientId', 'is required'],
  [withClient({ public: 'no' }), 'clients[0].public', 'must be true or false'],
  [withClient({ enabled: 1 }), 'clients[0].enabled', 'must be true or false'],
  [withClient({ secrets: 'web-secret' }), 'clients[0].secrets', 'must be an array'],
  [withClient({ secrets: [{ sha256: 'web-secret' }] }), 'clients[0].secrets', 'grantry hash-secret'],
  [
    withClient({ secrets: [{ ...hashed(strong('a')), expiresAt: 'soon' }] }),
    'clients[0].secrets',
    'expiresAt is not a time',
  ],
  [withClient({ secrets: [] }), 'clients', 'web has no usable secret'],
  [withClient({ public: true }), 'clients[0].secrets', 'must be empty for a public client'],
  [withClient({ grantTypes: 'password' }), 'clients[0].grantTypes', 'must be an array'],
  [withClient({ grantTypes: ['pasword'] }), 'clients', 'which no plugin provides'],
  [withClient({ scopes: 'api1' }), 'clients[0].scopes', 'must be an array'],
  [withClient({ scopes: ['api9'] }), 'clients', 'api9, which is not declared in scopes'],
  [withClient({ redirectUris: ['/cb'] }), 'clients[0].redirectUris[0]', 'absolute'],
  [withClient({ redirectUris: ['https://a.example.com/#b'] }), 'clients[0].redirectUris[0]', 'without a fragment'],
  [withClient({ postLogoutRedirectUris: [1] }), 'clients[0].postLogoutRedirectUris[0]', 'must be a string'],
  [withClient({ allowedCorsOrigins: ['*'] }), 'clients[0].allowedCorsOrigins[0]', 'must be an origin'],
  [withClient({ identityProviders: 'google' }), 'clients[0].identityProviders', 'must be an array'],
  [withClient({ accessTokenFormat: 'opaque' }), 'clients[0].accessTokenFormat', '"jwt" or "reference"'],
  [withClient({ accessTokenLifetime: 0 }), 'clients[0].accessTokenLifetime', 'from 1 to'],
  [withClient({ userClaimsInIdentityToken: 'yes' }), 'clients[0].userClaimsInIdentityToken', 'must be true or false'],
  [withClient({ identityTokenLifetime: '300' }), 'clients[0].identityTokenLifetime', 'must be a number'],
  [withClient({ identityTokenAlgorithm: 'HS256' }), 'clients[0].identityTokenAlgorithm', 'must be one of'],
  [withClient({ authorizationCodeLifetime: 1.5 }), 'clients[0].authorizationCodeLifetime', 'whole number'],
  [withClient({ allowPlainPkce: 'S256' }), 'clients[0].allowPlainPkce', 'must be true or false'],
  [
    withClient({ tokenEndpointAuthMethod: 1 }),
    'clients[0].tokenEndpointAuthMethod',
    'must be the name of an authentication method',
  ],
  [withClient({ tokenEndpointAuthMethod: 'private_key_jwt' }), 'clients', 'which no plugin provides'],
  [withClient({ requirePkce: 'S256' }), 'clients[0].requirePkce', 'must be true or false'],
  [withClient({ refreshToken: 'rotate' }), 'clients[0].refreshToken', 'must be an object'],
  [withClient({ refreshToken: { usage: 'once' } }), 'clients[0].refreshToken.usage', '"rotate" or "reuse"'],
  [withClient({ refreshToken: { retryWindow: 301 } }), 'clients[0].refreshToken.retryWindow', 'at most 300'],
  [withClient({ refreshToken: { absoluteLifetime: -1 } }), 'clients[0].refreshToken.absoluteLifetime', 'from 1 to'],
  [{ ...valid, clients: [client, client] }, 'clients', 'two clients have the clientId web'],
  [{ ...valid, clients: [null] }, 'clients[0]', 'not null'],
  // Scopes.
  [withScope({ name: 'with space' }), 'scopes[0].name', 'must be a scope name'],
  [withScope({ identity: 'yes' }), 'scopes[0].identity', 'must be true or false'],
  [withScope({ enabled: 0 }), 'scopes[0].enabled', 'must be true or false'],
  [withScope({ default: 'yes' }), 'scopes[0].default', 'must be true or false'],
  [withScope({ claims: 'role' }), 'scopes[0].claims', 'must be an array'],
  [withScope({ claims: ['sub'] }), 'scopes', 'is reserved for the protocol'],
  [withScope({ secrets: [{ sha512: 'short' }] }), 'scopes[0].secrets', 'grantry hash-secret'],
  [withScope({ audience: '' }), 'scopes[0].audience', 'must not be empty'],
  [withScope({ unrestrictedIntrospection: null }), 'scopes[0].unrestrictedIntrospection', 'must be true or false'],
  [withScope({ grantedSince: '2026-11-26' }), 'scopes[0].grantedSince', 'must be a number of epoch seconds'],
  [withScope({ grantedSince: 1.5 }), 'scopes[0].grantedSince', 'must be a number of epoch seconds'],
  [{ ...valid, scopes: [...healthy.scopes, ...healthy.scopes] }, 'scopes', 'two scopes have the name api1'],
  [{ ...valid, scopes: [...healthy.scopes, 5] }, 'scopes[1]', 'must be an object'],
  // Users.
  [withUser({}), 'users[0].password', 'grantry hash-password'],
  [withUser({ sub: 1 }), 'users[0].sub', 'must be a string'],
  [withUser({ username: '' }), 'users[0].username', 'must not be empty'],
  [withUser({ active: 'no', password: undefined }), 'users[0]'],
  // Storage.
  [{ ...valid, storage: {} }, 'storage.driver', 'is required'],
  [{ ...valid, storage: { driver: 'mysql' } }, 'storage.driver', 'must be one of'],
  [{ ...valid, storage: { driver: 'filesystem', directory: './keys.json' } }, 'storage', 'is a file'],
  [{ ...valid, storage: { driver: 'filesystem', directory: './keys.json/data' } }, 'storage', 'cannot be used'],
  [{ ...valid, storage: { driver: 'filesystem', fsync: 'no' } }, 'storage.fsync', 'must be true or false'],
  [redis({}), 'storage', 'is not available'],
  [redis({ url: undefined, cluster: ['redis://127.0.0.1:1'] }), 'storage', 'is not available'],
  [redis({ url: 'http://127.0.0.1:1' }), 'storage.url', 'must be a URL such as'],
  [redis({ prefix: '' }), 'storage.prefix', 'must be a non-empty string'],
  [redis({ waitReplicas: 1.5 }), 'storage.waitReplicas', 'must be a whole number'],
  [redis({ operationTimeout: 0 }), 'storage.operationTimeout', 'must be 0.05 to 60'],
  // Environment variables.
  [{ ...valid, issuer: unset }, 'issuer', 'GRANTRY_TEST_UNSET'],
  [withClient({ redirectUris: [`https://${unset}/cb`] }), 'clients[0].redirectUris[0]', 'GRANTRY_TEST_UNSET'],
  [redis({ password: unset }), 'storage.password', 'GRANTRY_TEST_UNSET'],
  // Plugins and endpoints.
  [{ ...valid, plugins: ['./nowhere.mjs'] }, 'plugins[0]', 'cannot load'],
  [{ ...valid, plugins: [5] }, 'plugins[0]', 'must be the path of a module'],
  [{ ...valid, plugins: ['jwt-introspection'] }, 'plugins[0]', 'write { "name": "jwt-introspection" }'],
  [withPlugin({}), 'plugins[0].name', 'is required: one of admin, client-assertion'],
  [withPlugin({ name: 5 }), 'plugins[0].name', 'must be one of admin, client-assertion'],
  [withPlugin({ name: ['client-assertion'] }), 'plugins[0].name', 'must be one of admin, client-assertion'],
  [withPlugin({ name: 'client-asertion' }), 'plugins[0].name', 'did you mean client-assertion?'],
  [withPlugin({ name: '__proto__' }), 'plugins[0].name', 'must be one of admin, client-assertion'],
  [withPlugin({ name: 'password' }), 'plugins[0].name', 'is always active; remove this entry'],
  [withPlugin({ name: 'jwt-bearer' }), 'plugins[0].name', 'call jwtBearer() of'],
  [withPlugin({ name: 'token-exchange' }), 'plugins[0].name', 'call tokenExchange() of'],
  [
    { ...valid, plugins: [{ name: 'resource-indicators' }, { name: 'resource-indicators' }] },
    'plugins',
    'two plugins have the name resource-indicators',
  ],
  [withPlugin({ name: 'device-authorization' }), 'plugins[0].verificationUri', 'is required'],
  [withDevice({ verificationUri: 'login' }), 'plugins[0].verificationUri', 'must be a URL'],
  [withDevice({ verificationURI: 'x' }), 'plugins[0].verificationURI', 'did you mean verificationUri?'],
  [withDevice({ lifetime: 0 }), 'plugins[0].lifetime', 'must be 1 to 3600 seconds'],
  [withDevice({ guesses: { failure: 3 } }), 'plugins[0].guesses.failure', 'did you mean failures?'],
  [withDevice({ verificationUri: `https://${unset}/` }), 'plugins[0].verificationUri', 'GRANTRY_TEST_UNSET'],
  [withAssertions({ audience: 'anyone' }), 'plugins[0].audience', 'must be "issuer" or'],
  // JSON cannot contain a second factor.
  [withPlugin({ name: 'sign-in', secondFactorAcr: 'mfa' }), 'plugins[0].secondFactorAcr', 'is not a known option'],
  [withAssertions({ algorithms: ['HS256'] }), 'plugins[0].algorithms[0]', 'must be one of ES256'],
  [withAssertions({ jwksUri: { maxage: 1 } }), 'plugins[0].jwksUri.maxage', 'did you mean maxAge?'],
  [withAssertions({ secretOf: 'x' }), 'plugins[0].secretOf', 'must be a function'],
  [withPlugin({ name: 'jwt-introspection', key: 'x' }), 'plugins[0].key', 'is not a known option'],
  [{ ...valid, endpoints: { token: 'oauth/token' } }, 'endpoints.token', 'must be true, false, or a path'],
  [{ ...valid, endpoints: { token: '/connect/userinfo' } }, 'endpoints', 'have the same path'],
  [{ ...valid, introspection: { unrelatedScope: 'x' } }, 'introspection.unrelatedScope', '"inactive" or "unauth'],
  [{ ...valid, refusedSecrets: [5] }, 'refusedSecrets[0]', 'must be a string'],
  [{ ...valid, check: { accept: ['store-lost'] } }, 'check.accept[0]', 'did you mean store-clock?'],
  // Not JSON, or not an object.
  ['{ "issuer": "x" "clients": [] }', 'line 1, column 17', 'a comma is missing'],
  ['[]', '', 'is required'],
  ['"text"', '', 'must be an object, not a string'],
]

describe('each configuration error is one line with its path', () => {
  test.each(cases.map((wrong) => [`${wrong[1]} ${wrong[2] ?? ''}`, wrong] as const))(
    '%s',
    async (_title, [content, path, says = '']) => {
      const { file } = written(content)
      const { code, out, err } = await printed('serve', '--port', '0', '--config', file)
      expect(code).toBe(1)
      expect(out).toBe('')
      // One line for each mistake, which starts with the file: no stack trace, no other line.
      expect(err).toMatch(/^(?:grantry: [^\n]+\n)+$/u)
      for (const line of err.trimEnd().split('\n')) expect(line).toContain(`grantry: ${file}`)
      // The core separates the entry with a colon: `clients[0] ("web"): clientId ...`.
      expect(err.replaceAll(/ \("[^"]*"\)/gu, '').replaceAll(']: ', '].')).toContain(path)
      expect(err).toContain(says)
      expect(err).not.toMatch(/ at [\w.<>]+ \(|node:internal|ERR_/u)
    },
  )

  test('the cases cover every key of the configuration, a client and a scope', () => {
    const text = JSON.stringify(cases)
    const keys = [configurationSchema, clientSchema.pipe[0], scopeSchema.pipe[0]].flatMap(({ entries }) =>
      Object.keys(entries),
    )
    for (const key of keys) expect(text).toContain(`"${key}"`)
  })
})

import type { DemoSecrets } from '@grantry/console'
import type { ClientOptions } from '@grantry/core'
import type { Configuration } from '../configuration/schema.ts'
import { isAddress } from '../local-address.ts'
import { badgeGrant } from './badge-grant.ts'

/** The values that the console of the demo fills in. Public, like every secret of the demo. */
export const demoSecrets: DemoSecrets = {
  clients: { demo: 'demo-secret', 'demo-jwt': 'demo-secret' },
  apis: { api1: 'api1-secret', api2: 'api2-secret' },
  users: [
    { username: 'alice', password: 'alice-password' },
    { username: 'bob', password: 'bob-password' },
  ],
  fields: { badge_id: '123456' },
}

// Hashes of these secrets and passwords.
const sha256 = {
  demoSecret: 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8=',
  api1Secret: '6wQyUUAdTu9zHPV8/6ZUj+5sLyiatf+sGw+hjp41K8A=',
  api2Secret: 'E6v71T/CI5UM2YA2lgzc/eqTCu+QFAOaFK56JX9PATg=',
} as const

const passwords = {
  alice: '$argon2id$v=19$m=19456,t=2,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$Jd4jhaelCjNTxvEYiwY3IVLLjXeXMjSqtBdhpK7V4fk',
  bob: '$argon2id$v=19$m=19456,t=2,p=1$Z3JhbnRyeS1kZW1vLWJvYg$EXyHoPP9fQ+f90aDWhQAEtAonOuMQLtM+DdToYKUlxg',
} as const

/** Badge 123456 is alice's. */
const doors = { ownerOf: async (badgeId: string) => (badgeId === '123456' ? '1' : undefined) }

const signIn = {
  name: 'sign-in',
  account: {},
  // Public, like every secret of the demo.
  secondFactors: { encryptionSecrets: ['encrypts the secrets of the demo only'] as string[] },
  pages: {
    name: 'Grantry demo',
    scopes: { api1: 'Call the first API on your behalf', api2: 'Call the second API on your behalf' },
  },
  // The mails of the demo arrive at /outbox.
  accounts: { signUp: 'open', mail: 'both' },
} as const

/** Returns the configuration of the demo (`grantry serve` without a file). For loopback only: its secrets are public. */
export function demoConfiguration(issuer: string): Configuration {
  const redirectUris = [`${issuer}/demo/callback`]
  const scopes = ['openid', 'profile', 'email', 'roles', 'offline_access', 'api1', 'api2']
  const confidential: Omit<ClientOptions, 'clientId'> = {
    secrets: [{ sha256: sha256.demoSecret }],
    grantTypes: ['client_credentials', 'password', 'authorization_code', 'refresh_token', 'urn:example:badge'],
    scopes,
    redirectUris,
  }
  return {
    issuer,
    storage: { driver: 'filesystem', directory: './.grantry' },
    // RS256 for identity tokens, ES256 for all others.
    keys: { algorithms: ['ES256', 'RS256'] },
    clients: [
      { ...confidential, clientId: 'demo', accessTokenFormat: 'reference' },
      { ...confidential, clientId: 'demo-jwt', accessTokenFormat: 'jwt' },
      {
        clientId: 'demo-spa',
        clientName: 'A little application',
        public: true,
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes,
        redirectUris,
        postLogoutRedirectUris: [`${issuer}/`],
      },
    ],
    scopes: [
      { name: 'api1', secrets: [{ sha256: sha256.api1Secret }] },
      { name: 'api2', secrets: [{ sha256: sha256.api2Secret }] },
    ],
    users: [
      {
        sub: '1',
        username: 'alice',
        password: passwords.alice,
        claims: {
          name: 'Alice Smith',
          given_name: 'Alice',
          family_name: 'Smith',
          email: 'alice@example.com',
          role: ['admin', 'editor'],
        },
      },
      {
        sub: '2',
        username: 'bob',
        password: passwords.bob,
        claims: {
          name: 'Bob Jones',
          given_name: 'Bob',
          family_name: 'Jones',
          email: 'bob@example.com',
          role: 'reader',
        },
      },
    ],
    plugins: [
      badgeGrant(doors),
      { name: 'dpop' },
      // Browsers refuse passkeys of an IP address.
      { ...signIn, passkeys: !isAddress(issuer) },
    ],
    administration: true,
    console: true,
  }
}

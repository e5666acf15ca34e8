import { client, type FindingCase, hashed, healthy, strong, withClient } from './configurations.ts'

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** Secrets of clients and scopes, as in `check-secrets.ts`. */
export const secretCases: readonly FindingCase[] = [
  [
    'the secret of the demo',
    withClient({ secrets: [hashed('demo-secret')] }),
    { id: 'secret-weak', severity: 'error', where: 'clients[0].secrets[0]' },
  ],
  ['an empty secret', withClient({ secrets: [hashed('')] }), { id: 'secret-weak', where: 'clients[0].secrets[0]' }],
  [
    'a short secret as SHA-512',
    withClient({ secrets: [hashed(strong('web')), hashed('ab1', 'sha512')] }),
    { id: 'secret-weak', where: 'clients[0].secrets[1]' },
  ],
  ['the client id as the secret', withClient({ secrets: [hashed('web')] }), { id: 'secret-weak' }],
  [
    'an API secret that is its name and a word',
    { ...healthy, scopes: [{ name: 'api1', secrets: [hashed('api1-secret')] }] },
    { id: 'secret-weak', where: 'scopes[0].secrets[0]' },
  ],
  [
    'a secret with two owners',
    { ...healthy, scopes: [{ name: 'api1', secrets: client.secrets }] },
    { id: 'secret-shared', where: 'scopes[0].secrets[0]' },
  ],
  [
    'an expired secret',
    withClient({ secrets: [{ ...hashed(strong('old')), expiresAt: '2020-01-01T00:00:00Z' }, ...client.secrets] }),
    { id: 'secret-expired', severity: 'warning', where: 'clients[0].secrets[0]' },
  ],
  [
    'a secret that expires soon',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(10) }] }),
    { id: 'secret-expires-soon', where: 'clients[0].secrets[0]' },
  ],
  [
    'no valid secret',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(-1) }] }),
    { id: 'secret-none-live', severity: 'error', where: 'clients[0].secrets' },
  ],
]

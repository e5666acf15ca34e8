// Attack: a thief knows the password of a user who has a second factor at another server. An import keeps the password and
// not the factor, so that the password alone signs in.
import { type ImportFunction, importAuth0, importKeycloak } from '@grantry/administration/import'
import { describe, expect, test } from 'vitest'
import { type Exported, read } from '../support/imported.ts'

type Systems = Readonly<Record<'keycloak' | 'auth0', readonly [ImportFunction, (more: Exported) => unknown]>>
const password = { type: 'password', value: 'a-password-of-alice' }
const systems: Systems = {
  keycloak: [
    importKeycloak,
    (more) => ({ realm: 'r', clients: [], users: [{ id: 'a', username: 'alice', enabled: true, ...more }] }),
  ],
  auth0: [
    importAuth0,
    (more) => ({ users: [{ user_id: 'auth0|a', username: 'alice', passwordHash: '$2b$10$abc', ...more }] }),
  ],
}
const beside = (type: unknown, more: object = {}): Exported => ({ credentials: [password, { type, ...more }] })

const demanded: readonly (readonly [keyof Systems, what: string, Exported, named: string])[] = [
  ['keycloak', 'an app', beside('otp', { secretData: '{"value":"x"}', credentialData: '{}' }), 'otp'],
  ['keycloak', 'an app, before the password', { credentials: [{ type: 'otp' }, password] }, 'otp'],
  ['keycloak', 'an app of old versions', beside('totp', { hashedSaltedValue: 'x' }), 'totp'],
  ['keycloak', 'an app with a counter', beside('hotp'), 'hotp'],
  ['keycloak', 'a key', beside('webauthn'), 'webauthn'],
  ['keycloak', 'recovery codes', beside('recovery-authn-codes'), 'recovery-authn-codes'],
  ['keycloak', 'the factor of an extension', beside('sms-otp'), 'sms-otp'],
  ['keycloak', 'a factor without a type', beside(undefined), 'undefined'],
  ['keycloak', 'a factor of an unknown form', beside({ of: 'otp' }), '[object Object]'],
  ['keycloak', 'an app of which the export has a flag only', { credentials: [password], totp: true }, 'totp'],
  ['keycloak', 'a flag of an unknown form', { credentials: [password], totp: 'yes' }, 'totp'],
  ['keycloak', 'credentials of an unknown form', { credentials: { otp: {} } }, 'credentials'],
  ['auth0', 'an app', { mfa_factors: [{ totp: { secret: 'x' } }] }, 'mfa_factors'],
  ['auth0', 'a phone', { mfa_factors: [{ phone: { value: '+1' } }] }, 'mfa_factors'],
  ['auth0', 'Guardian', { multifactor: ['guardian'] }, 'multifactor'],
  ['auth0', 'Guardian, as a text', { multifactor: 'guardian' }, 'multifactor'],
  ['auth0', 'methods', { authentication_methods: [{ type: 'totp' }] }, 'authentication_methods'],
  ['auth0', 'enrollments', { guardian_enrollments: [{ status: 'confirmed' }] }, 'guardian_enrollments'],
]

describe('a user who needs more than the password there is disabled here', () => {
  test.each(demanded)('%s: %s', async (system, _what, more, named) => {
    const [from, of] = systems[system]
    const { users, findings } = await read(from, of(more))
    expect(users).toMatchObject([{ username: 'alice', active: false }])
    const disabled = findings.filter(({ what }) => what.startsWith('is disabled: '))
    expect(disabled).toEqual([
      {
        entry: 'user alice',
        what: expect.stringContaining(`(${named})`),
        outcome: 'changed',
        consequence: 'sign-in',
      },
    ])
    // It is the first of what the report says of users.
    expect(findings.filter(({ entry }) => entry === 'user alice')[0]).toBe(disabled[0])
    expect(JSON.stringify(findings)).not.toContain('a-password-of-alice')
  })
})

const alone: readonly (readonly [keyof Systems, what: string, Exported])[] = [
  ['keycloak', 'a password', { credentials: [password], totp: false }],
  ['keycloak', 'earlier passwords', beside('password-history')],
  ['keycloak', 'a passkey, which stands for the password', beside('webauthn-passwordless')],
  ['auth0', 'no factor', { mfa_factors: [], multifactor: [] }],
]

test.each(alone)(
  'a user who needs no more than the password there stays active: %s: %s',
  async (system, _what, more) => {
    const [from, of] = systems[system]
    const { users } = await read(from, of(more))
    expect(users).toMatchObject([{ username: 'alice', password: expect.any(String) }])
    expect(users[0]).not.toHaveProperty('active')
  },
)

// What the flow of a realm or a client demands is kept, or the client is disabled: a password must not open here what it did
// not open there.
import { importKeycloak } from '@grantry/administration/import'
import { describe, expect, test } from 'vitest'

type Execution = readonly [name: string, requirement: 'REQUIRED' | 'ALTERNATIVE' | 'CONDITIONAL' | 'DISABLED']

/** Names of flows begin with a capital letter. */
const flow = (alias: string, ...executions: readonly Execution[]) => ({
  id: `id of ${alias}`,
  alias,
  providerId: 'basic-flow',
  authenticationExecutions: executions.map(([name, requirement]) => ({
    ...(/^[A-Z]/u.test(name) ? { authenticatorFlow: true, flowAlias: name } : { authenticator: name }),
    requirement,
  })),
})

const otp = ['auth-otp-form', 'REQUIRED'] as const
const form = ['auth-username-password-form', 'REQUIRED'] as const
const cookie = ['auth-cookie', 'ALTERNATIVE'] as const
const redirector = ['identity-provider-redirector', 'ALTERNATIVE'] as const

/** The flow of each new realm. */
const standard = [
  flow(
    'browser',
    cookie,
    ['auth-spnego', 'DISABLED'],
    redirector,
    ['Organization', 'ALTERNATIVE'],
    ['Forms', 'ALTERNATIVE'],
  ),
  flow('Organization', ['Organization conditional', 'CONDITIONAL']),
  flow('Organization conditional', ['conditional-user-configured', 'REQUIRED'], ['organization', 'ALTERNATIVE']),
  flow('Forms', form, ['Own factor', 'CONDITIONAL']),
  flow(
    'Own factor',
    ['conditional-user-configured', 'REQUIRED'],
    ['conditional-credential', 'REQUIRED'],
    ['auth-otp-form', 'ALTERNATIVE'],
    ['webauthn-authenticator', 'DISABLED'],
  ),
  flow(
    'direct grant',
    ['direct-grant-validate-username', 'REQUIRED'],
    ['direct-grant-validate-password', 'REQUIRED'],
    ['Direct factor', 'CONDITIONAL'],
  ),
  flow('Direct factor', ['conditional-user-configured', 'REQUIRED'], ['direct-grant-validate-otp', 'REQUIRED']),
]

const run = async (realm: object, client: object = {}) => {
  const { clients, findings } = await importKeycloak(
    [
      {
        path: 'realm.json',
        content: {
          realm: 'r',
          authenticationFlows: standard,
          ...realm,
          clients: [
            {
              clientId: 'app',
              enabled: true,
              secret: 'oFZ4mG2hV8wQ1xY7bN5tR3kL',
              redirectUris: ['https://app.example.com/callback'],
              directAccessGrantsEnabled: true,
              ...client,
            },
          ],
        },
      },
    ],
    {} as never,
  )
  const { requireSecondFactor, enabled, grantTypes } = clients[0] ?? {}
  const lines = findings.filter(({ member }) => member === 'browserFlow' || member === 'directAccessGrantsEnabled')
  return {
    demand: enabled === false ? 'disabled' : requireSecondFactor === true ? 'factor' : 'password',
    hasPasswords: (grantTypes as readonly string[]).includes('password'),
    lines: lines.map(({ member, outcome, consequence }) => `${member} ${outcome} ${consequence}`),
  }
}

const browser = (...flows: readonly object[]) => ({ browserFlow: 'Mine', authenticationFlows: [...standard, ...flows] })
const inForms = (...executions: readonly Execution[]) =>
  browser(flow('Mine', cookie, ['Mine forms', 'ALTERNATIVE']), flow('Mine forms', form, ...executions))
const conditional = (condition: string, ...executions: readonly Execution[]) =>
  browser(
    flow('Mine', cookie, ['Mine forms', 'ALTERNATIVE']),
    flow('Mine forms', form, ['Only some', 'CONDITIONAL']),
    flow('Only some', [condition, 'REQUIRED'], ...executions),
  )
const role = ['conditional-user-role', 'REQUIRED'] as const
/** Instead of the condition for a level. */
const off = ['conditional-level-of-authentication', 'DISABLED'] as const

/** A flow for each level, the first one first. */
const levels = (...executions: readonly (readonly Execution[])[]) =>
  browser(
    flow('Mine', cookie, ['All levels', 'ALTERNATIVE']),
    flow('All levels', ...executions.map((_, index): Execution => [`Level ${index + 1}`, 'CONDITIONAL'])),
    ...executions.map((all, index) => {
      const condition = ['conditional-level-of-authentication', 'REQUIRED'] as const
      return flow(`Level ${index + 1}`, ...(all.includes(off) ? [] : [condition]), ...all)
    }),
  )

/** Gives the executions of each flow the priorities of the reverse order. */
const reversed = ({ authenticationFlows, ...realm }: ReturnType<typeof browser>) => ({
  ...realm,
  authenticationFlows: authenticationFlows.map((original) => ({
    ...original,
    authenticationExecutions: (original as ReturnType<typeof flow>).authenticationExecutions.map(
      (execution, index) => ({
        ...execution,
        priority: 100 - index,
      }),
    ),
  })),
})

describe('a client keeps what the pages of its realm demand:', () => {
  test.each([
    ['those of each realm', {}, 'password'],
    ['without flows in the export', { authenticationFlows: undefined }, 'password'],
    ['a copy', browser({ ...standard[0], alias: 'Mine' }), 'password'],
    ['an app', inForms(otp), 'factor'],
    ['an app or a key', inForms(['Second', 'REQUIRED']), 'disabled'],
    ['an app if its user has one', inForms(['Own factor', 'CONDITIONAL']), 'password'],
    ['an app in each case, in a flow with conditions', inForms(['Own factor', 'REQUIRED']), 'factor'],
    ['an app that is switched off', inForms(['auth-otp-form', 'DISABLED']), 'password'],
    ['an app for a role', conditional('conditional-user-role', otp), 'factor'],
    // Keycloak executes the first flow for a level for each user, also if no level is requested.
    ['an app for the first level', conditional('conditional-level-of-authentication', otp), 'factor'],
    ['an app and the password for the first level', levels([form, otp]), 'factor'],
    ['an app for the second level', levels([form], [otp]), 'password'],
    ['an app for the second level, whose first is for a role', levels([form, role], [otp]), 'factor'],
    ['an app for the second level, whose first is switched off', levels([form, off], [otp]), 'factor'],
    ['an app for the second level, in the order of priorities', reversed(levels([form], [otp])), 'factor'],
    ['an app for those who used a password', conditional('conditional-credential', otp), 'factor'],
    ['nothing for a role', conditional('conditional-user-role', ['deny-access-authenticator', 'REQUIRED']), 'disabled'],
    ['a certificate', browser(flow('Mine', cookie, ['auth-x509-client-username-form', 'REQUIRED'])), 'disabled'],
    [
      'a certificate or a password',
      browser(flow('Mine', ['x509', 'ALTERNATIVE'], ['Forms', 'ALTERNATIVE'])),
      'password',
    ],
    ['a provider only', browser(flow('Mine', cookie, redirector)), 'disabled'],
    ['a program of its own', inForms(['my-authenticator', 'REQUIRED']), 'disabled'],
    [
      'an organization or an app',
      browser(flow('Mine', ['Organization', 'ALTERNATIVE'], ['Deep', 'ALTERNATIVE']), flow('Deep', form, otp)),
      'factor',
    ],
    ['a flow that is not in the export', { browserFlow: 'Mine' }, 'disabled'],
    ['a flow that contains itself', browser(flow('Mine', ['Mine', 'REQUIRED'])), 'disabled'],
    ['nothing', browser(flow('Mine')), 'disabled'],
  ])('%s', async (_, realm, demand) => {
    const outcome = await run(realm)
    expect(outcome).toMatchObject({ demand, hasPasswords: true })
    expect(outcome.lines).toEqual(demand === 'password' ? [] : ['browserFlow changed sign-in'])
  })

  test.each([
    ['a level by its number', { 'minimum.acr.value': '2' }, 'factor'],
    ['the first level', { 'minimum.acr.value': '1' }, 'password'],
    ['a level by its name', { 'minimum.acr.value': 'gold', 'acr.loa.map': '{"silver":"1","gold":"2"}' }, 'factor'],
    ['the first one by its name', { 'minimum.acr.value': 'silver', 'acr.loa.map': '{"silver":"1"}' }, 'password'],
    ['a name that is unknown', { 'default.acr.values': 'silver##gold' }, 'factor'],
    ['a name of the realm', { 'default.acr.values': 'bronze' }, 'password'],
    ['a name of objects', { 'minimum.acr.value': 'constructor' }, 'factor'],
  ])('%s', async (_, attributes, demand) => {
    const outcome = await run({ attributes: { 'acr.loa.map': '{"bronze":"1","silver":"2"}' } }, { attributes })
    expect(outcome).toMatchObject({ demand, hasPasswords: demand === 'password' })
  })
})

test('a client keeps the demand of a flow of its own, and loses no other', async () => {
  const realm = {
    authenticationFlows: [...standard, flow('Mine', cookie, ['Deep', 'ALTERNATIVE']), flow('Deep', form, otp)],
  }
  const override = { authenticationFlowBindingOverrides: { browser: 'id of Mine' } }
  expect(await run(realm, override)).toMatchObject({ demand: 'factor', hasPasswords: true })
  expect(await run(realm, { authenticationFlowBindingOverrides: { browser: '' } })).toMatchObject({
    demand: 'password',
  })
  expect(await run({ ...realm, browserFlow: 'Mine' }, { enabled: false })).toMatchObject({ demand: 'disabled' })
})

test.each([
  ['direct grant', true],
  ['Direct with an app', false],
  ['missing', false],
])('the grant type password with the flow %j: %s', async (directGrantFlow, hasPasswords) => {
  const authenticationFlows = [
    ...standard,
    flow(
      'Direct with an app',
      ['direct-grant-validate-password', 'REQUIRED'],
      ['direct-grant-validate-otp', 'REQUIRED'],
    ),
  ]
  expect(await run({ directGrantFlow, authenticationFlows })).toEqual({
    demand: 'password',
    hasPasswords,
    lines: hasPasswords ? [] : ['directAccessGrantsEnabled changed sign-in'],
  })
})

test.each([
  ['CONFIGURE_TOTP', false],
  ['webauthn-register', false],
  ['CONFIGURE_RECOVERY_AUTHN_CODES', false],
  ['UPDATE_PROFILE', undefined],
])('a user who has to do %s is active: %s', async (action, active) => {
  const user = { id: 'u', username: 'ann', enabled: true, requiredActions: [action] }
  const content = { realm: 'r', clients: [], users: [user] }
  const { users } = await importKeycloak([{ path: 'realm.json', content }], {
    names: async () => undefined,
    hashPassword: async () => '',
  } as never)
  expect(users[0]?.active).toBe(active)
})

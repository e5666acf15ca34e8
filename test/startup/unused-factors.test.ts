// What users set up on their account page must be something that the sign-in knows. Otherwise, they would rely on a factor
// that nothing asks for. Refused at start, except beside pages of a host: they do not state what they ask for.
import { createPages } from '@grantry/pages'
import { createAccountPages } from '@grantry/pages/account'
import { type AccountPageOptions, accountPage } from '@grantry/plugins/account'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, type InteractionPort } from '@grantry/plugins/authorization-endpoint'
import { storedSecondFactors, totp } from '@grantry/plugins/one-time-password'
import { passkeys, storedPasskeys } from '@grantry/plugins/passkeys'
import { proofKey } from '@grantry/plugins/proof-key'
import { type SignInOptions, signIn } from '@grantry/plugins/sign-in'
import { upstream } from '@grantry/plugins/upstream'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const pages = createPages()
const hostPasskeys = storedPasskeys()
const { verify: _, ...managed } = hostPasskeys
const otherCheck = passkeys({ find: () => undefined })
const stored = storedSecondFactors({ encryptionSecrets: ['x'.repeat(32)] })
const otherStored = storedSecondFactors({ encryptionSecrets: ['y'.repeat(32)] })
const { factors: _factors, ...hostAccount } = stored.account
const otherFactor = totp({ secretOf: () => undefined })
const providers = () =>
  upstream({
    providers: [{ name: 'acme', issuer: 'https://acme.example', clientId: 'grantry', clientSecret: 's'.repeat(32) }],
  })
const [way, otherWay] = [providers(), providers()]

/** Pages of a host, or a login application at another address: both can ask for factors by themselves. */
const ownPages: InteractionPort = { interact: () => ({ refuse: 'login_required' }) }
const elsewhere: InteractionPort = { interact: () => ({ location: 'https://login.example.com/' }) }

async function startOf(account: Partial<AccountPageOptions>, interaction: InteractionPort): Promise<string> {
  try {
    const features = [accountPage({ pages: createAccountPages(), ...account })]
    const endpoint = authorizationEndpoint({ interaction, pages, features })
    const users = { authenticate: () => ({ sub: 'alice' }), claims: () => ({}) }
    await createTestProvider({ plugins: [authorizationCode(), proofKey(), endpoint], users })
    return 'starts'
  } catch (thrown) {
    return thrown instanceof TypeError ? thrown.message : `no TypeError: ${thrown}`
  }
}

const noPasskeys = 'accountPage(): users would add passkeys that no sign-in accepts; pass the same passkeys to signIn()'
const noFactors =
  'accountPage(): users would set up second factors that no sign-in asks for; pass them to signIn() as secondFactors, such as factors of storedSecondFactors()'
const noWay =
  'accountPage(): users would link accounts that no sign-in accepts; pass linkedProviders to signIn() as one of its ways'

const hasFactors = { secondFactors: stored.factors }
const hasAccount = { secondFactors: stored.account }

describe('an account page beside signIn()', () => {
  test.each<readonly [string, Partial<AccountPageOptions>, Partial<SignInOptions>, string]>([
    ['without factors', {}, {}, 'starts'],
    ['without factors that the sign-in has', {}, { passkeys: hostPasskeys, ...hasFactors, ways: [way] }, 'starts'],
    ['with the same passkeys', { passkeys: hostPasskeys }, { passkeys: hostPasskeys }, 'starts'],
    ['with passkeys, without those of the sign-in', { passkeys: hostPasskeys }, {}, noPasskeys],
    ['with passkeys, beside second factors', { passkeys: hostPasskeys }, hasFactors, noPasskeys],
    ['with other passkeys than the sign-in', { passkeys: hostPasskeys }, { passkeys: otherCheck }, noPasskeys],
    ['with passkeys that the host verifies', { passkeys: managed }, { passkeys: otherCheck }, 'starts'],
    ['with passkeys that nothing verifies', { passkeys: managed }, {}, noPasskeys],
    ['with the same second factors', hasAccount, hasFactors, 'starts'],
    [
      'with the same second factors, and others',
      hasAccount,
      { secondFactors: [otherFactor, ...stored.factors] },
      'starts',
    ],
    ['with second factors, without those of the sign-in', hasAccount, {}, noFactors],
    ['with second factors, beside passkeys', hasAccount, { passkeys: hostPasskeys }, noFactors],
    ['with other second factors than the sign-in', hasAccount, { secondFactors: [otherFactor] }, noFactors],
    ['with second factors under another secret', hasAccount, { secondFactors: otherStored.factors }, noFactors],
    ['with a part of the second factors', hasAccount, { secondFactors: stored.factors.slice(1) }, noFactors],
    ['with second factors of the host', { secondFactors: hostAccount }, { secondFactors: [otherFactor] }, 'starts'],
    ['with second factors of the host that nothing asks for', { secondFactors: hostAccount }, {}, noFactors],
    ['with demanded second factors', { ...hasAccount, requireSecondFactor: true }, {}, noFactors],
    ['with the same providers', { linkedProviders: way }, { ways: [way] }, 'starts'],
    ['with providers, without those of the sign-in', { linkedProviders: way }, {}, noWay],
    ['with other providers than the sign-in', { linkedProviders: way }, { ways: [otherWay] }, noWay],
  ])('%s', async (_title, account, options, expected) => {
    expect(await startOf(account, signIn({ pages, ...options }))).toBe(expected)
  })
})

describe.each([
  ['pages of a host', ownPages],
  ['a login application elsewhere', elsewhere],
])('an account page beside %s, which state nothing, starts', (_title, interaction) => {
  test.each<readonly [string, Partial<AccountPageOptions>]>([
    ['with passkeys', { passkeys: hostPasskeys }],
    ['with second factors', hasAccount],
    ['with providers', { linkedProviders: way }],
  ])('%s', async (_name, account) => {
    expect(await startOf(account, interaction)).toBe('starts')
  })
})

describe('pages of a host that state what they accept', () => {
  const stating = (accepts: InteractionPort['accepts']): InteractionPort => ({ ...ownPages, accepts })

  test.each<readonly [string, Partial<AccountPageOptions>, InteractionPort['accepts'], string]>([
    [
      'the same',
      { passkeys: hostPasskeys, ...hasAccount },
      { passkeys: hostPasskeys, secondFactors: stored.factors },
      'starts',
    ],
    ['nothing', hasAccount, {}, noFactors],
    ['no passkeys', { passkeys: hostPasskeys }, { secondFactors: stored.factors }, noPasskeys],
  ])('%s', async (_title, account, accepts, expected) => {
    expect(await startOf(account, stating(accepts))).toBe(expected)
  })

  test('must state what has the functions of a factor', async () => {
    expect(await startOf({}, stating({ passkeys: {} as never }))).toContain('interaction.accepts.passkeys')
    expect(await startOf({}, stating({ secondFactors: [{}] as never }))).toContain('interaction.accepts.secondFactors')
  })
})

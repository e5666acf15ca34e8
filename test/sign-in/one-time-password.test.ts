import { decodeJwt } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { newRecoveryCodes, newTotpSecret, recoveryCodes, totp, totpUri } from '@grantry/plugins/one-time-password'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { runRules } from '../../packages/server/src/check-rules/rule.ts'
import { pluginRules } from '../../packages/server/src/doctor/check-plugins.ts'
import { answer } from '../authorization/browser.ts'
import { kitOf } from '../support/kit-of.ts'
import { passwordAt, recoveryCode, secret, setUpFactors } from './one-time-password-parties.ts'
import { nameOf, testPages } from './parties.ts'

describe('a user with an authenticator app', () => {
  test('signs in with the password and a one-time password', async () => {
    const { passed, clock, redeem, start } = await setUpFactors({ secondFactorAcr: 'mfa' })
    const { browser, page, enterCode } = await passed()
    expect(nameOf(page)).toBe('secondFactor')
    const consent = await enterCode(passwordAt(clock.now()))
    expect(nameOf(consent)).toBe('consent')
    const { submit } = await start({}, browser)
    const { code } = answer(await submit('consent', { decision: 'allow' }, consent))
    const { claims } = decodeJwt((await redeem(code)).body.id_token) ?? {}
    expect(claims).toMatchObject({ sub: 'alice', amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' })
  })

  test('has no session after the password alone', async () => {
    const { passed, start } = await setUpFactors()
    const { browser } = await passed()
    expect(answer((await start({ prompt: 'none' }, browser)).page)).toMatchObject({ error: 'login_required' })
    expect(nameOf((await start({}, browser)).page)).toBe('signIn')
  })

  test.each([
    ['another code', '000000'],
    ['no code', ''],
    ['a longer code', '0000000'],
    ['letters', 'abcdef'],
  ])('is asked again after %s', async (_case, code) => {
    const { passed, clock } = await setUpFactors()
    const { enterCode } = await passed()
    const page = await enterCode(code)
    expect([nameOf(page), page.html]).toEqual(['secondFactor', expect.stringContaining('wrong_code')])
    expect(nameOf(await enterCode(passwordAt(clock.now())))).toBe('consent')
  })

  test.each([
    [-60, 'secondFactor'],
    [-30, 'consent'],
    [30, 'consent'],
    [60, 'secondFactor'],
  ])('can have a clock that differs: %i s', async (seconds, page) => {
    const { passed, clock } = await setUpFactors()
    const { enterCode } = await passed()
    expect(nameOf(await enterCode(passwordAt(clock.now() + seconds)))).toBe(page)
  })

  test('can write the code with a space', async () => {
    const { passed, clock } = await setUpFactors()
    const { enterCode } = await passed()
    expect(nameOf(await enterCode(passwordAt(clock.now()).replace(/.{3}/u, '$& ')))).toBe('consent')
  })

  test('can cancel', async () => {
    const { passed } = await setUpFactors()
    const { enterCode } = await passed()
    expect(answer(await enterCode('', { decision: 'cancel' }))).toMatchObject({ error: 'access_denied' })
  })
})

describe('the time of the authentication', () => {
  test.each([{ max_age: '60' }, { prompt: 'login' }])(
    'is that of the user service, also with a second factor: %o is not met by an old one',
    async (demand) => {
      const authenticate = ({ username }: { readonly username: string }) => ({ sub: username, authTime: 1_799_990_000 })
      const { passed, clock } = await setUpFactors({}, { users: { authenticate } })
      const { enterCode } = await passed(demand)
      const page = await enterCode(passwordAt(clock.now()))
      expect([nameOf(page), answer(page).code]).toEqual(['signIn', undefined])
    },
  )
})

test('a user without a second factor needs none', async () => {
  const { start } = await setUpFactors()
  const { enter } = await start()
  expect(nameOf(await enter('bob'))).toBe('consent')
})

describe('a recovery code', () => {
  test.each([
    ['as it was shown', recoveryCode],
    ['without hyphens, in lower case', 'aaaabbbbccccdddd'],
    ['with spaces', 'AAAA BBBB CCCC DDDD'],
  ])('signs in, %s', async (_how, code) => {
    const { passed } = await setUpFactors()
    expect(nameOf(await (await passed()).enterCode(code))).toBe('consent')
  })

  test('works once', async () => {
    const { passed } = await setUpFactors()
    expect(nameOf(await (await passed()).enterCode(recoveryCode))).toBe('consent')
    expect(nameOf(await (await passed()).enterCode(recoveryCode))).toBe('secondFactor')
  })
})

describe('attack: a thief of the password', () => {
  test('cannot use a one-time password again, also in another browser', async () => {
    const { passed, clock } = await setUpFactors()
    const code = passwordAt(clock.now())
    expect(nameOf(await (await passed()).enterCode(code))).toBe('consent')
    expect(nameOf(await (await passed()).enterCode(code))).toBe('secondFactor')
  })

  test('can try ten codes in 15 minutes, also in other browsers', async () => {
    const { passed, clock } = await setUpFactors()
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await (await passed()).enterCode('000000')).html).toContain('wrong_code')
    }
    const { enterCode } = await passed()
    const { html } = await enterCode(passwordAt(clock.now()))
    expect(html).toContain('too_many_attempts')
  })

  test.each([
    ['of another sign-in', (passed: string) => ({ passed })],
    ['that was changed', () => ({ passed: 'x' })],
    ['that is missing', () => ({ passed: '' })],
  ])('cannot use a proof of the password %s', async (_case, fieldsOf) => {
    const { passed, clock } = await setUpFactors()
    const attacker = await passed()
    const stolen = /name="passed" value="([^"]*)"/u.exec(attacker.page.html)?.[1] ?? ''
    const { enterCode } = await passed({ state: 'another' })
    const page = await enterCode(passwordAt(clock.now()), fieldsOf(stolen))
    expect([nameOf(page), page.html]).toEqual(['signIn', expect.stringContaining('form_expired')])
  })

  test('cannot skip the code', async () => {
    const { passed, start } = await setUpFactors()
    const { browser, page } = await passed()
    const { submit } = await start({}, browser)
    for (const path of ['consent', 'accounts']) {
      const skipped = await submit(path, { decision: 'allow' }, page)
      expect(answer(skipped)).not.toHaveProperty('code')
    }
  })
})

// RFC 6238 appendix B. Authenticator apps show the last six digits.
test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('accepts the password of RFC 6238 at %i', async (now, password) => {
  const { provider } = await setUpFactors()
  const kit = { ...kitOf(provider, 'authorization-endpoint'), now: () => now, records: { insert: async () => true } }
  const { verify } = totp({ secretOf: () => secret, clockTolerance: 0 })
  expect(await verify('alice', password.slice(2), kit as never)).toBe(true)
  expect(await verify('alice', password.slice(0, 6), kit as never)).toBe(false)
})

describe('setting up', () => {
  test('a secret has 160 bits, and its URI names the service and the user', () => {
    const created = newTotpSecret()
    expect(created).toMatch(/^[A-Z2-7]{32}$/u)
    expect(newTotpSecret()).not.toBe(created)
    expect(totpUri('ABC', 'My Bank', 'al:ice')).toBe('otpauth://totp/My%20Bank:al%3Aice?secret=ABC&issuer=My%20Bank')
  })

  test('recovery codes are accepted by their hashes', async () => {
    const { provider } = await setUpFactors()
    const kit = kitOf(provider, 'authorization-endpoint')
    const codes = newRecoveryCodes()
    expect(codes).toHaveLength(10)
    expect(codes[0]?.code).toMatch(/^(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}$/u)
    const { verify } = recoveryCodes({ hashesOf: () => codes.map(({ hash }) => hash) })
    expect(await verify('carol', codes[3]?.code ?? '', kit)).toBe(true)
    expect(await verify('carol', codes[3]?.code ?? '', kit)).toBe(false)
  })

  test.each(['short', 'GEZDGNBVGY3TQOJQ', '1'.repeat(32)])('a secret like %s is a defect of the host', async (bad) => {
    const { provider } = await setUpFactors()
    const { verify } = totp({ secretOf: () => bad })
    await expect(verify('alice', '000000', kitOf(provider, 'authorization-endpoint'))).rejects.toThrow('secretOf must')
  })

  test('mistakes in the options are named', () => {
    expect(() => totp({ secretOf: 'x' } as never)).toThrow('totp(): secretOf must be a function')
    expect(() => recoveryCodes({} as never)).toThrow('recoveryCodes(): hashesOf')
  })
})

const factor = totp({ secretOf: () => undefined })

test.each([
  ['warns', [factor], true, ['plugin:authorization-endpoint:password_without_second_factor']],
  ['does not warn', [factor], false, []],
  ['does not warn', [], true, []],
])('the start %s with the second factors %j if the password grant is installed: %s', async (...row) => {
  const [, secondFactors, isInstalled, reasons] = row
  const interaction = signIn({ pages: testPages, secondFactors })
  const users = { authenticate: () => undefined }
  const plugins = [authorizationCode(), proofKey(), authorizationEndpoint({ interaction }), isInstalled && password()]
  const { events } = await createTestProvider({ plugins, users })
  const warnings = events.flatMap((event) => (event.type === 'startup_warning' ? [event] : []))
  expect(warnings.map(({ reason }) => reason).filter((reason) => reason.startsWith('plugin:'))).toEqual(reasons)
  const clients = [{ enabled: true, grantTypes: ['password'] }]
  const facts = { configuration: {}, warnings, clients: [], storedClients: clients, unreachable: [] }
  expect(runRules(pluginRules, { ...facts, storedClients: [] } as never)).toEqual([])
  const findings = runRules(pluginRules, facts as never)
  expect(findings.map(({ id, where }) => [id, where])).toEqual(reasons.map(() => ['second-factor-skipped', 'plugins']))
})

import { decodeJwt } from '@grantry/core'
import { type PasskeysOptions, passkeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { createAuthenticator } from './authenticator.ts'
import { nameOf, setUpSignIn } from './parties.ts'

const challengeIn = (html: string): string => /"challenge":"([\w-]{43})"/u.exec(html)?.[1] ?? ''

async function setUp(options: Partial<PasskeysOptions> = {}) {
  const device = createAuthenticator()
  const uses: number[] = []
  const find: PasskeysOptions['find'] = (id) =>
    id === device.credentialId
      ? { sub: 'alice', name: 'Alice Smith', publicKey: device.publicKey, counter: uses.at(-1) ?? 0 }
      : undefined
  const onUse = (_: string, counter: number): void => void uses.push(counter)
  const f = await setUpSignIn({ passkeys: passkeys({ find, onUse, ...options }), secondFactorAcr: 'phr' })
  return { ...f, device, uses }
}

describe('a passkey', () => {
  test('signs its user in, with consent as after a password', async () => {
    const { start, device, uses, redeem } = await setUp()
    const { page, submit } = await start()
    const consent = await submit('signin', { credential: device.respond(challengeIn(page.html)) })
    expect([nameOf(consent), consent.html]).toEqual(['consent', expect.stringContaining('Alice Smith')])
    const { code } = answer(await submit('consent', { decision: 'allow' }, consent))
    const { claims } = decodeJwt((await redeem(code)).body.id_token) ?? {}
    expect(claims).toMatchObject({ sub: 'alice', amr: ['pop', 'mfa'], acr: 'phr' })
    expect(uses).toEqual([1])
  })

  test('the page has a challenge of its own, for the host of the issuer', async () => {
    const { start } = await setUp()
    const pages = [(await start()).page.html, (await start()).page.html]
    expect(new Set(pages.map(challengeIn)).size).toBe(2)
    expect(pages[0]).toContain('"rpId":"id.example.com"')
  })

  test('can belong to a parent domain', async () => {
    const { start, device } = await setUp({ rpId: 'example.com' })
    const { page, submit } = await start()
    expect(page.html).toContain('"rpId":"example.com"')
    const credential = device.respond(challengeIn(page.html), { rpId: 'example.com' })
    expect(nameOf(await submit('signin', { credential }))).toBe('consent')
  })

  test.each(['127.0.0.1', '[::1]'])('20.70 is not offered where its domain would be an address: %s', async (rpId) => {
    const { start } = await setUp({ rpId })
    const { page } = await start()
    expect(nameOf(page)).toBe('signIn')
    expect([challengeIn(page.html), page.html.includes('id="passkey"')]).toEqual(['', false])
  })

  test('the password still works', async () => {
    const { start } = await setUp()
    expect(nameOf(await (await start()).enter('alice'))).toBe('consent')
  })
})

describe('attack: a response that the page did not ask for', () => {
  test.each<[string, (device: ReturnType<typeof createAuthenticator>, challenge: string) => string]>([
    ['to another challenge', ({ respond }) => respond('a'.repeat(43))],
    ['for another origin', ({ respond }, challenge) => respond(challenge, { origin: 'https://evil.example' })],
    ['for another domain', ({ respond }, challenge) => respond(challenge, { rpId: 'evil.example' })],
    ['without verification of the user', ({ respond }, challenge) => respond(challenge, { flags: 1 })],
    ['without presence of the user', ({ respond }, challenge) => respond(challenge, { flags: 4 })],
    ['of a registration', ({ respond }, challenge) => respond(challenge, { type: 'webauthn.create' })],
    ['of another key', (_, challenge) => createAuthenticator().respond(challenge)],
    ['of an unknown passkey', (_, challenge) => createAuthenticator('dW5rbm93bg').respond(challenge)],
    ['that is no JSON', () => 'x'],
    ['that is empty JSON', () => '{}'],
    [
      'with a signature that is no base64url',
      ({ respond }, challenge) => respond(challenge).replace(/"signature":"/u, '$&!'),
    ],
    ['of 17 KB', ({ respond }, challenge) => respond(challenge).replace('{', `{${' '.repeat(17_000)}`)],
  ])('%s is refused', async (_case, respond) => {
    const { start, device, uses } = await setUp()
    const { browser, page, submit } = await start()
    const refused = await submit('signin', { credential: respond(device, challengeIn(page.html)) })
    expect([refused.status, nameOf(refused)]).toEqual([200, 'signIn'])
    expect(refused.html).toContain('unknown_passkey')
    expect(answer((await start({ prompt: 'none' }, browser)).page)).toMatchObject({ error: 'login_required' })
    expect(uses).toEqual([])
  })

  test('of another page is refused: a stolen response is useless', async () => {
    const { start, device } = await setUp()
    const [victim, thief] = [await start(), await start()]
    const credential = device.respond(challengeIn(victim.page.html))
    expect((await thief.submit('signin', { credential })).html).toContain('unknown_passkey')
  })

  test('with a counter that was used before is refused: the passkey was copied', async () => {
    const { start, device, uses } = await setUp()
    const { page, submit } = await start()
    uses.push(100)
    expect((await submit('signin', { credential: device.respond(challengeIn(page.html)) })).html).toContain(
      'unknown_passkey',
    )
  })

  test('is refused without passkeys()', async () => {
    const { start } = await setUpSignIn()
    const { page, submit } = await start()
    expect(page.html).not.toContain('challenge')
    expect((await submit('signin', { credential: '{}' })).html).toContain('unknown_passkey')
  })
})

test('mistakes in the options are named', () => {
  expect(() => passkeys({} as never)).toThrow('passkeys(): find')
  expect(() => passkeys({ find: () => undefined, rpId: '' })).toThrow('passkeys(): rpId must not be empty')
})

/**
 * The seed, section 2.3: every value is a string. The tokens are signed with our own key, so that they can hold values
 * that the provider itself never issues.
 */
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }

async function rendered(claims: JWTPayload): Promise<Record<string, unknown>> {
  const f = await fixture({ keys: [jwk] })
  const now = f.clock.now()
  const base = { iss: 'https://id.example.com', sub: '1', aud: 'web', exp: now + 300, iat: now, nbf: now }
  const token = await new SignJWT({ ...base, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'JWT' })
    .sign(privateKey)
  const response = await f.post('identityTokenValidation', { token, client_id: 'web' })
  expect(response.status).toBe(200)
  return response.body
}

test('4.14 returns every claim of the token, with times as decimal text', async () => {
  expect(await rendered({ nonce: 'n', sub: '1', idp: 'local', auth_time: 1_413_203_481 })).toEqual({
    iss: 'https://id.example.com',
    sub: '1',
    aud: 'web',
    exp: '1800000300',
    iat: '1800000000',
    nbf: '1800000000',
    nonce: 'n',
    idp: 'local',
    auth_time: '1413203481',
  })
})

test('4.19 idp is local if the token does not contain it', async () => {
  expect(await rendered({})).toMatchObject({ idp: 'local' })
  expect(await rendered({ idp: 'ldap' })).toMatchObject({ idp: 'ldap' })
})

test.each([
  ['text', 'x', 'x'],
  ['empty text', '', ''],
  ['text that looks like JSON', '{"a":[1]}', '{"a":[1]}'],
  ['text beyond ASCII', 'Ä"\n𝄞', 'Ä"\n𝄞'],
  ['a number', 42, '42'],
  ['zero', 0, '0'],
  ['a negative number', -1, '-1'],
  ['a fraction', 1.5, '1.5'],
  ['the largest safe number', 9_007_199_254_740_991, '9007199254740991'],
  ['true', true, 'true'],
  ['false', false, 'false'],
  ['null', null, 'null'],
])('4.14 %s is a string (%j)', async (_, value, text) => {
  expect((await rendered({ odd: value })).odd).toBe(text)
})

test.each([
  ['text', ['pwd'], 'pwd'],
  ['a number', [1_413_203_781], '1413203781'],
  ['a boolean', [true], 'true'],
  ['null', [null], 'null'],
  ['an object', [{ a: 1 }], '{"a":1}'],
  ['an array', [['a', 'b']], '["a","b"]'],
])('4.15 an array of one, %s, is that string (%j)', async (_, value, text) => {
  expect((await rendered({ odd: value })).odd).toBe(text)
})

test.each([
  ['texts', ['pwd', 'otp'], ['pwd', 'otp']],
  ['equal texts', ['pwd', 'pwd'], ['pwd', 'pwd']],
  ['different types', ['a', 1, false, null, { b: 2 }, [3]], ['a', '1', 'false', 'null', '{"b":2}', '[3]']],
])('4.15 an array of several, %s, is an array of strings (%j)', async (_, value, texts) => {
  expect((await rendered({ odd: value })).odd).toEqual(texts)
})

test('4.15 amr and aud follow the same rule', async () => {
  expect(await rendered({ amr: ['pwd'], aud: ['web'] })).toMatchObject({ amr: 'pwd', aud: 'web' })
  expect(await rendered({ amr: ['pwd', 'mfa'], aud: ['web', 'x'] })).toMatchObject({
    amr: ['pwd', 'mfa'],
    aud: ['web', 'x'],
  })
})

test('4.16 an object is its JSON text', async () => {
  const address = { country: 'Ö', lines: ['1', 2], nested: { deep: true } }
  const { odd } = await rendered({ odd: address })
  expect(typeof odd).toBe('string')
  expect(JSON.parse(String(odd))).toEqual(address)
})

test('4.14 a claim with the name of a built-in property is an ordinary claim', async () => {
  const claims = JSON.parse('{"__proto__":7,"constructor":true,"toString":[1]}') as JWTPayload
  const f = await fixture({ keys: [jwk] })
  const now = f.clock.now()
  // Not spread: that would set the prototype instead of the claim.
  const payload = `{"iss":"https://id.example.com","sub":"1","aud":"web","exp":${now + 300},"iat":${now},"nbf":${now},${JSON.stringify(claims).slice(1)}`
  const input = [{ alg: 'ES256', kid: 'ours', typ: 'JWT' }, payload]
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .map((text) => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/u, ''))
    .join('.')
  const bytes = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    privateKey,
    new TextEncoder().encode(input),
  )
  const signature = Buffer.from(bytes).toString('base64url')
  const request = new Request('https://id.example.com/connect/identitytokenvalidation', {
    method: 'POST',
    body: new URLSearchParams({ token: `${input}.${signature}`, client_id: 'web' }),
  })
  const response = await f.provider.fetch(request)
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('"__proto__":"7"')
  expect(text).toContain('"constructor":"true"')
  expect(text).toContain('"toString":"1"')
})

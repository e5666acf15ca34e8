import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, SignJWT } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { claimDescriptions } from '../../packages/server/src/commands/claim-descriptions.ts'

// The modules of the page that do not need a browser.

const run = promisify(execFile)
const page = new URL('../../packages/console/src/page/', import.meta.url)
const load = (name: string) => import(new URL(name, page).href)

/** Returns the arguments that a POSIX shell passes to a command. */
async function shellWords(command: string): Promise<readonly string[]> {
  const { stdout } = await run('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`])
  return stdout.split('\0').slice(0, -1)
}

describe('the curl command', () => {
  const nasty = [
    'a b',
    "it's",
    '$(touch x)',
    '`id`',
    '"; id #',
    '\\',
    'line\nbreak',
    '-n',
    '*',
    '!!',
    '~',
    'a=b&c',
    "'",
  ]

  test.each(nasty)('is quoted correctly with %j in every value', async (text) => {
    const { curlCommand } = await load('curl.js')
    const call = { method: 'POST', path: '/connect/token', credentials: [text, text], form: [['field', text]] }
    const words = await shellWords(curlCommand(call, 'http://127.0.0.1:8484'))
    const encoded = encodeURIComponent(text)
    expect(words).toEqual([
      '-i',
      'http://127.0.0.1:8484/connect/token',
      '-u',
      `${encoded}:${encoded}`,
      '--data-urlencode',
      `field=${text}`,
    ])
  })

  test('encodes field names so that curl sends them unchanged', async () => {
    const { curlCommand } = await load('curl.js')
    const words = await shellWords(curlCommand({ method: 'POST', path: '/t', form: [['a=@b', '@file']] }, 'http://h'))
    expect(words.at(-1)).toBe('a%3D%40b=@file')
  })

  test.each([
    ['Bearer', undefined],
    ['DPoP', 'a.b.c'],
  ])('sends an access token with the scheme %s if the proof is %s', async (scheme, proof) => {
    const { curlCommand } = await load('curl.js')
    const words = await shellWords(curlCommand({ method: 'GET', path: '/u', accessToken: 't' }, 'http://h', proof))
    const dpop = proof === undefined ? [] : ['-H', `DPoP: ${proof}`]
    expect(words).toEqual(['-i', 'http://h/u', '-X', 'GET', '-H', `Authorization: ${scheme} t`, ...dpop])
  })
})

describe('a DPoP key', () => {
  test('signs a new proof for each request, with the URL under the issuer (RFC 9449)', async () => {
    const { createDpopKey } = await load('dpop.js')
    const key = await createDpopKey('https://id.example.com')
    const request = { method: 'GET', path: '/connect/userinfo', accessToken: 'token' }
    const proofs = [await key.prove(request), await key.prove({ ...request, accessToken: undefined })]
    const [first, second] = await Promise.all(proofs.map((proof) => jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' })))
    expect(first?.protectedHeader).toEqual({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.jwk })
    expect(first?.payload).toEqual({
      jti: expect.stringMatching(/^[\w-]{22}$/u),
      htm: 'GET',
      htu: 'https://id.example.com/connect/userinfo',
      iat: expect.any(Number),
      ath: createHash('sha256').update('token').digest('base64url'),
    })
    expect(second?.payload).not.toHaveProperty('ath')
    expect(second?.payload.jti).not.toBe(first?.payload.jti)
    expect(key.thumbprint).toBe(await calculateJwkThumbprint(key.jwk))
  })

  test('cannot be exported', async () => {
    const { createDpopKey } = await load('dpop.js')
    const generate = vi.spyOn(crypto.subtle, 'generateKey')
    const { jwk } = await createDpopKey('https://id.example.com')
    const pair: CryptoKeyPair = await generate.mock.results[0]?.value
    generate.mockRestore()
    expect(pair.privateKey.extractable).toBe(false)
    expect(Object.keys(jwk)).toEqual(['crv', 'kty', 'x', 'y'])
  })
})

describe('the explanation of a claim', () => {
  // `grant_type` and `generation` are not in tokens, but in stored grants.
  test.each(Object.keys(claimDescriptions).filter((name) => name !== 'grant_type' && name !== 'generation'))(
    'exists for every claim that the command line explains: %s',
    async (name) => {
      const { explainClaim } = await load('claims.js')
      expect(explainClaim(name, '').meaning).not.toBe(explainClaim('an unknown claim', '').meaning)
    },
  )

  test('shows a time as a date and relative to now', async () => {
    const { explainClaim } = await load('claims.js')
    const exp = Math.floor(Date.now() / 1000) + 3599
    expect(explainClaim('exp', exp).words).toMatch(/^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d:\d\d \(in 59 minutes\)$/u)
    expect(explainClaim('iat', exp - 3599 - 7200).words).toMatch(/\(2 hours ago\)$/u)
  })

  test.each([1e300, -1e300, 'soon', Number.MAX_SAFE_INTEGER])(
    'an invalid time does not break the page (%s)',
    async (value) => {
      const { explainClaim } = await load('claims.js')
      expect(explainClaim('exp', value).shown).toBe(typeof value === 'string' ? value : JSON.stringify(value))
    },
  )

  test('of a proof or a key differs from that of a token', async () => {
    const { explainClaim } = await load('claims.js')
    for (const name of ['jti', 'iat', 'nonce']) {
      expect(explainClaim(name, 1, 'proof').meaning).not.toBe(explainClaim(name, 1).meaning)
    }
    for (const name of ['htm', 'htu', 'ath', 'jwk', 'typ', 'alg'])
      expect(explainClaim(name, 1, 'proof').meaning).not.toBe('A custom claim')
    for (const name of ['kty', 'crv', 'x', 'y', 'jkt'])
      expect(explainClaim(name, 1, 'key').meaning).not.toBe('A custom claim')
  })

  test.each(['constructor', '__proto__', 'toString'])('a claim named %s is a custom claim', async (name) => {
    const { explainClaim } = await load('claims.js')
    expect(explainClaim(name, 'x').meaning).toBe('A custom claim')
  })
})

describe('decoding', () => {
  test('returns the header and claims of a JWT in UTF-8', async () => {
    const { decodeJwt } = await load('jwt.js')
    const key = new TextEncoder().encode('a key that is long enough for this')
    const jwt = await new SignJWT({ name: 'Zoë <b>' }).setProtectedHeader({ alg: 'HS256' }).sign(key)
    expect(decodeJwt(jwt)).toEqual({ header: { alg: 'HS256' }, claims: { name: 'Zoë <b>' } })
  })

  test.each(['', 'abc', 'a.b', 'a.b.c', 'a.b.c.d', 'e30.e30', '..', 'bnVsbA.bnVsbA.x', 'W10.W10.x', 'MQ.MQ.x'])(
    '%j is not a JWT',
    async (text) => {
      const { decodeJwt } = await load('jwt.js')
      expect(decodeJwt(text)).toBeUndefined()
    },
  )

  test('a proof key conforms to RFC 7636', async () => {
    const { createProofKey } = await load('proof-key.js')
    const { verifier, challenge } = await createProofKey()
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
    expect(verifier).toMatch(/^[\w-]{43}$/u)
    expect(challenge).toBe(Buffer.from(digest).toString('base64url'))
    expect((await createProofKey()).verifier).not.toBe(verifier)
  })
})

describe('the files of the page', () => {
  const files = readdirSync(page).map((name) => ({ name, text: readFileSync(new URL(name, page), 'utf8') }))

  test.each(files)('$name has at most 250 lines and a name in kebab-case', ({ name, text }) => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(250)
    expect(name).toMatch(/^[a-z0-9-]+\.(?:html|css|js)$/u)
  })

  test.each(files)('$name creates no markup from text, and contacts no other host', ({ name, text }) => {
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser/u)
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/(?:https?:)?\/\/[a-z]+\.|localStorage/u)
    // What a tab must know after the sign-in, and no token.
    if (name !== 'pending-sign-in.js') expect(text).not.toContain('sessionStorage')
    expect(text).not.toMatch(/\son\w+="|\sstyle="|<script>|<style>/u)
  })
})

// With abuse control, a newcomer sees `slow_down` after five wrong passwords.
test.each([
  'invalid_grant',
  'invalid_client',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'slow_down',
  'temporarily_unavailable',
  'server_error',
])('the error %s has its own explanation', async (code) => {
  const { errorDescription } = await load('labels.js')
  expect(errorDescription(code)).not.toBe(errorDescription('of_a_plugin'))
})

describe('a call of the admin API', () => {
  /** Returns what a call responds with, and the URLs of what was sent. */
  async function called(path: string) {
    const { createApi } = await load('api.js')
    const sent: string[] = []
    vi.stubGlobal('fetch', async (url: string) => {
      sent.push(new URL(url, 'https://id.example.com').pathname)
      return Response.json({})
    })
    try {
      const key = { prove: async () => 'proof', nonce: undefined }
      const api = createApi({ paths: { admin: '/admin' } }, { accessToken: 'token', key }, () => {})
      return { response: await api.send('POST', path, { body: {} }), sent }
    } finally {
      vi.unstubAllGlobals()
    }
  }

  test.each(['.', '..'])('for the id %j is not sent: a browser resolves it to another path', async (id) => {
    const { apiPath } = await load('api.js')
    for (const path of [apiPath(['users', id]), apiPath(['users', id], { q: 'a' }), `/users/a/clients/${id}/revoke`]) {
      const { response, sent } = await called(path)
      expect(sent).toEqual([])
      expect(response).toMatchObject({ status: 400, problem: expect.stringContaining('command line') })
    }
  })

  test.each(['...', '.a', 'a..', '%2e%2e', '../..', 'a/../b', '/', '?', '#', '\\..\\'])(
    'for the id %j leads to its path',
    async (id) => {
      const { apiPath } = await load('api.js')
      const { sent } = await called(apiPath(['users', id, 'revoke']))
      expect(sent).toEqual([`/admin/users/${encodeURIComponent(id)}/revoke`])
    },
  )
})

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { claimWords } from '../../packages/server/src/token/claim-words.ts'

// The modules of the page that need no browser.

const run = promisify(execFile)
const page = new URL('../../packages/server/src/console/page/', import.meta.url)
const load = (name: string) => import(new URL(name, page).href)

/** What a command gets from a POSIX shell, one argument a line. */
async function wordsOf(command: string): Promise<readonly string[]> {
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

  test.each(nasty)('survives a shell with %j in every place', async (text) => {
    const { curlCommand } = await load('curl.js')
    const call = { method: 'POST', path: '/connect/token', credentials: [text, text], form: [['field', text]] }
    const words = await wordsOf(curlCommand(call, 'http://127.0.0.1:8484'))
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

  test('names a field so that curl sends it as it is', async () => {
    const { curlCommand } = await load('curl.js')
    const words = await wordsOf(curlCommand({ method: 'POST', path: '/t', form: [['a=@b', '@file']] }, 'http://h'))
    expect(words.at(-1)).toBe('a%3D%40b=@file')
  })
})

describe('what is said of a claim', () => {
  // `grant_type` and `generation` are in no token: they are said of a stored grant.
  test.each(Object.keys(claimWords).filter((name) => name !== 'grant_type' && name !== 'generation'))(
    'is said of every claim that the command line explains: %s',
    async (name) => {
      const { explainClaim } = await load('claims.js')
      expect(explainClaim(name, '').meaning).not.toBe(explainClaim('a claim of nobody', '').meaning)
    },
  )

  test('a time is a date and how far away it is', async () => {
    const { explainClaim } = await load('claims.js')
    const exp = Math.floor(Date.now() / 1000) + 3599
    expect(explainClaim('exp', exp).words).toMatch(/^\d{1,2} \w{3,4} \d{4}, \d\d:\d\d:\d\d \(in 59 minutes\)$/u)
    expect(explainClaim('iat', exp - 3599 - 7200).words).toMatch(/\(2 hours ago\)$/u)
  })

  test.each([1e300, -1e300, 'soon', Number.MAX_SAFE_INTEGER])(
    'what is no time does not stop the page (%s)',
    async (value) => {
      const { explainClaim } = await load('claims.js')
      expect(explainClaim('exp', value).shown).toBe(typeof value === 'string' ? value : JSON.stringify(value))
    },
  )

  test.each(['constructor', '__proto__', 'toString'])('a claim called %s is a claim of their own', async (name) => {
    const { explainClaim } = await load('claims.js')
    expect(explainClaim(name, 'x').meaning).toBe('A claim of your own')
  })
})

describe('decoding', () => {
  test('a JWT shows its header and claims, in UTF-8', async () => {
    const { decodeJwt } = await load('jwt.js')
    const key = new TextEncoder().encode('a key that is long enough for this')
    const jwt = await new SignJWT({ name: 'Zoë <b>' }).setProtectedHeader({ alg: 'HS256' }).sign(key)
    expect(decodeJwt(jwt)).toEqual({ header: { alg: 'HS256' }, claims: { name: 'Zoë <b>' } })
  })

  test.each(['', 'abc', 'a.b', 'a.b.c', 'a.b.c.d', 'e30.e30', '..', 'bnVsbA.bnVsbA.x', 'W10.W10.x', 'MQ.MQ.x'])(
    '%j is no JWT',
    async (text) => {
      const { decodeJwt } = await load('jwt.js')
      expect(decodeJwt(text)).toBeUndefined()
    },
  )

  test('a proof key is one by RFC 7636', async () => {
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

  test.each(files)('$name makes no markup of text, and asks no other host', ({ text }) => {
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser/u)
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /(?:https?:)?\/\/[a-z]+\.|localStorage|sessionStorage/u,
    )
    expect(text).not.toMatch(/\son\w+="|\sstyle="|<script>|<style>/u)
  })
})

// With abuse control on, which it is, a newcomer meets `slow_down` after five wrong passwords.
test.each(['invalid_grant', 'invalid_client', 'slow_down', 'temporarily_unavailable', 'server_error'])(
  'the error %s is said in words of its own',
  async (code) => {
    const { errorMeaning } = await load('words.js')
    expect(errorMeaning(code)).not.toBe(errorMeaning('of_a_plugin'))
  },
)

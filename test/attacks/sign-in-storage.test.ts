/**
 * Attack: a caller without credentials fills the storage with requests that wait for their users, or that a public client
 * has pushed.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge, request } from '../authorization/parties.ts'
import { setUp } from '../pushed-authorization/parties.ts'

/** Bytes that a request of 60 KB, or what remains of it, may need with its cookies and times. */
const most = 20_000

/** The page that refuses a request. */
const tooLong = [400, 'plugin:authorization-endpoint:too_long']

async function setUpStorage() {
  const storage = memoryDriver()
  const f = await setUp({}, { interact: async ({ suspend }) => ({ html: (await suspend()).id }) }, { storage })
  const sizes = () => [...storage.getInstance().values()].map((item) => JSON.stringify(item).length)
  const url = `${f.provider.issuer}/connect/authorize`
  /** Sends a form as a browser does, which sends a long one again with its cookies. Returns the status and the reason of the page. */
  async function refusalOf(form: Readonly<Record<string, string>>) {
    const browser = createBrowser(f.provider)
    const first = await browser.submit(url, form)
    const fields = hiddenFields(first)
    const page = 'resent' in fields ? await browser.submit(url, fields) : first
    return [page.status, /<code id="reason">([^<]*)</u.exec(page.html)?.[1]]
  }
  return { ...f, sizes, refusalOf }
}

test.each(['extra', 'display'])('a request with a long %s is not stored', async (name) => {
  const { refusalOf, sizes } = await setUpStorage()
  const before = sizes().length
  expect(await refusalOf({ ...request, [name]: 'x'.repeat(60_000) })).toEqual(tooLong)
  expect(Math.max(0, ...sizes())).toBeLessThan(most)
  expect(sizes()).toHaveLength(before)
})

test('thousands of short parameters are not stored either', async () => {
  const { refusalOf, sizes } = await setUpStorage()
  const many = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`p${index}`, 'x']))
  const before = sizes().length
  expect(await refusalOf({ ...request, ...many })).toEqual(tooLong)
  expect(sizes()).toHaveLength(before)
})

// 16,000 characters or fewer, and more than 16 KB of JSON: up to 96 KB.
test.each([
  ['of control characters', '\u0001'.repeat(16_000)],
  ['of quotes', '"'.repeat(16_000)],
  ['in Japanese', '語'.repeat(5500)],
  ['of emoji', '😀'.repeat(4100)],
])('a request %s, which takes more bytes than characters, is not stored', async (_, extra) => {
  const { refusalOf, sizes } = await setUpStorage()
  const before = sizes().length
  expect(await refusalOf({ ...request, extra })).toEqual(tooLong)
  expect(sizes()).toHaveLength(before)
})

test('a public client can push no long request', async () => {
  const { push, sizes } = await setUpStorage()
  const native = { client_id: 'spa', redirect_uri: 'com.example.app:/callback', code_challenge: challenge }
  const form = { ...request, ...native, code_challenge_method: 'S256' }
  expect((await push(form, 'anyone')).status).toBe(201)
  const before = sizes().length
  const { status, body } = await push({ ...form, extra: 'x'.repeat(60_000) }, 'anyone')
  expect([status, body.error]).toEqual([400, 'invalid_request'])
  expect(sizes()).toHaveLength(before)
})

test('a request of a client that uses every parameter to the full is stored', async () => {
  const { provider, urlOf } = await setUpStorage()
  const claims = JSON.stringify({
    userinfo: Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`${'c'.repeat(80)}${i}`, null])),
  })
  const hints = { login_hint: 'x'.repeat(1000), ui_locales: 'de '.repeat(300), acr_values: 'a '.repeat(400) }
  const page = await createBrowser(provider).open(urlOf({ ...request, state: 's'.repeat(4000), claims, ...hints }))
  expect([page.status, page.html]).toEqual([200, expect.stringMatching(/^[\w-]{43}$/u)])
})

/**
 * Attack: the log of a refused authorization contains the redirect URI, so that an operator sees the mistake. A redirect
 * URI can contain a secret: a user and password, a key in the query, a token in the fragment or in the path, or the
 * content of a `data:` URI. The readers of the log then know it. A long one fills the log.
 */
import { expect, test } from 'vitest'
import { request, setUp } from '../authorization/parties.ts'

const secret = 'hunter2-and-more'

const detailOf = async (redirect_uri: string, registered: readonly string[] = ['https://app.example.com/cb']) => {
  const clients = [{ clientId: 'web', grantTypes: ['authorization_code'], redirectUris: [...registered], public: true }]
  const { browser, urlOf, events } = await setUp(undefined, {}, { clients })
  await browser().open(urlOf({ ...request, redirect_uri }))
  const event = events.at(-1)
  expect(event).toMatchObject({ type: 'endpoint_failed', clientId: 'web' })
  return event?.type === 'endpoint_failed' ? (event.detail ?? '') : ''
}

test.each([
  [`https://user:${secret}@app.example.com/cb`, 'https://…@app.example.com/cb'],
  [`https://app.example.com/cb?key=${secret}`, 'https://app.example.com/cb?…'],
  [`https://app.example.com/cb#${secret}`, 'https://app.example.com/cb#…'],
  [`https://app.example.com/${secret.repeat(3)}/cb`, 'https://app.example.com/…/cb'],
  [`https:user:${secret}@app.example.com/cb`, 'https:…'],
  [`https:/user:${secret}@app.example.com/cb`, 'https:…'],
  [`https:///user:${secret}@app.example.com/cb`, 'https:…'],
  [`https:\\\\user:${secret}@app.example.com/cb`, 'https:…'],
  [`https://app.example.com/cb;key=${secret}/more`, 'https://app.example.com/cb;…/more'],
  [`com.example.app:${secret}@cb`, 'com.example.app:…'],
  [`data:text/plain,${secret}`, 'data:…'],
  [`javascript:alert('${secret}')`, 'javascript:…'],
  [secret, '(not an absolute URI)'],
])('does not log what may be a secret in %s', async (sent, shown) => {
  const detail = await detailOf(sent)
  expect(detail).not.toContain(secret)
  expect(detail).toMatch(`sent: ${shown}; registered: https://app.example.com/cb`)
})

test('names a difference that is not shown', async () => {
  expect(await detailOf('https://a.example/cb?tenant=1', ['https://a.example/cb?tenant=2'])).toBe(
    'sent: https://a.example/cb?…; registered: https://a.example/cb?…; they differ in what is not shown',
  )
})

test('limits the length of the description', async () => {
  const registered = Array.from({ length: 40 }, (_, index) => `https://a.example/${'x/'.repeat(400)}${index}`)
  const detail = await detailOf(`https://b.example/${'x/'.repeat(400)}`, registered)
  expect(detail).toMatch(/, and 35 more$/u)
  expect(detail.length).toBeLessThan(1500)
})

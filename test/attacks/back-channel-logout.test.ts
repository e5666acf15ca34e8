/**
 * Attack: the operator of a client, or an attacker who can register one, lets the provider send requests to hosts that
 * only the provider can reach (SSRF), holds its requests open, or sends endless responses. Or the receiver of a logout
 * token uses it as another token.
 *
 * OpenID Connect Back-Channel Logout 1.0 sections 2.5 and 4.
 */
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { expect, test } from 'vitest'
import { clients, createReceivers, setUpNotified } from '../back-channel-logout/parties.ts'
import { setUpLogout } from '../end-session/parties.ts'

const withUri = (backchannelLogoutUri: string) => clients.map((client) => ({ ...client, backchannelLogoutUri }))

test.each([
  'http://client.example.com/logout',
  'http://localhost:3000/logout',
  'http://127.0.0.1/logout',
  'https://127.0.0.1/logout',
  'https://2130706433/logout',
  'https://0x7f.1/logout',
  'https://[::1]/logout',
  'https://[::ffff:169.254.169.254]/latest',
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/logout',
  'https://localhost./logout',
  'https://redis/',
  'https://db.internal/',
  'https://user:password@client.example.com/logout',
  'https://client.example.com/logout#fragment',
  'file:///etc/passwd',
  'data:text/plain,x',
  'javascript:alert(1)',
  'client.example.com/logout',
  `https://client.example.com/${'a'.repeat(2000)}`,
])('the provider never calls %s', async (uri) => {
  await expect(setUpNotified({}, { clients: withUri(uri) })).rejects.toThrow(/backchannelLogoutUri must/u)
})

test.each([
  ['http://127.0.0.1:3000/logout', true],
  ['http://localhost:3000/logout', true],
  ['http://[::1]:3000/logout', true],
  ['https://10.0.0.1/logout', true],
  ['https://client.internal/logout', true],
  ['http://10.0.0.1/logout', false],
  ['http://client.internal/logout', false],
  ['http://127.0.0.1.evil.example/logout', false],
  ['http://127.0.0.1@evil.example/logout', false],
])('with private addresses, %s is allowed: %s', async (uri, isAllowed) => {
  const setUp = setUpNotified({ allowPrivateAddresses: true }, { clients: withUri(uri) })
  if (isAllowed) await expect(setUp).resolves.toHaveProperty('provider')
  else await expect(setUp).rejects.toThrow(/backchannelLogoutUri must use https/u)
})

test('redirects are not followed, the time is limited, and no credential is sent', async () => {
  const { signedIn, logout, received } = await setUpNotified()
  const { browser, hint } = await signedIn()
  await logout(browser, { id_token_hint: hint })
  const { init } = received[0] ?? {}
  expect(init?.redirect).toBe('manual')
  expect(init?.signal).toBeInstanceOf(AbortSignal)
  expect(init?.headers).toEqual({ 'content-type': 'application/x-www-form-urlencoded' })
})

test('a response is not read, however long it is', async () => {
  const f = await setUpNotified()
  const { browser, hint } = await f.signedIn()
  let [chunks, isCancelled] = [0, false]
  const endless = new ReadableStream(
    {
      pull(controller) {
        chunks += 1
        controller.enqueue(new Uint8Array(65_536))
      },
      cancel() {
        isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  f.respondWith(async () => new Response(endless))
  await f.logout(browser, { id_token_hint: hint })
  expect([chunks, isCancelled]).toEqual([0, true])
})

test('a client that does not respond is aborted', async () => {
  const receivers = createReceivers()
  const aborted: unknown[] = []
  const feature = backChannelLogout({
    timeout: 0.1,
    maxWait: 10,
    fetch: (url, init) =>
      new Promise((_resolve, reject) => {
        receivers.fetch(url, init)
        init.signal?.addEventListener('abort', () => {
          aborted.push(init.signal?.reason)
          reject(init.signal?.reason)
        })
      }),
  })
  const { signedIn, logout } = await setUpLogout({ clients }, [feature])
  const { browser, hint } = await signedIn()
  await logout(browser, { id_token_hint: hint })
  expect(aborted).toMatchObject([{ name: 'TimeoutError' }])
})

test('no event contains a logout token or its id', async () => {
  const { signedIn, logout, provider, clock, events, tokens, claims, respondWith } = await setUpNotified()
  const { browser, hint } = await signedIn()
  respondWith(() => Promise.reject(new Error('refused')))
  await logout(browser, { id_token_hint: hint })
  for (let attempt = 0; attempt < 6; attempt += 1) {
    clock.advance(1900)
    await provider.runTasks()
  }
  const text = JSON.stringify(events)
  expect(text).toContain('No logout token could be delivered')
  for (const secret of [...tokens(), ...claims().map(({ jti }) => String(jti))]) expect(text).not.toContain(secret)
})

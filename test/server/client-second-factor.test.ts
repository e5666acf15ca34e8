// A client that requires a second factor in a server in which no user can set one up: it does not start.
import { expect, test } from 'vitest'
import { client, healthy, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const content = (entry: object) => ({
  ...healthy,
  clients: [
    {
      ...client,
      grantTypes: ['authorization_code'],
      redirectUris: ['https://web.example.com/callback'],
      requireSecondFactor: true,
    },
  ],
  plugins: [{ name: 'sign-in', ...entry }],
})

test.each([
  ['without the page of the account', {}, 'requireSecondFactor is not a known option'],
  ['without second factors', { account: {} }, 'requireSecondFactor needs secondFactors on the account page'],
])('20.91 a server with such a client does not start %s', async (_what, entry, message) => {
  const { code, out, err } = await printed('check', '--config', written(content(entry)).file)
  expect(code).toBe(1)
  expect(out + err).toContain(message)
})

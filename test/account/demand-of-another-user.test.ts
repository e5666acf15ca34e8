// The session of the browser can be that of another user than the one who has decided, such as in a login application
// elsewhere: its factor says nothing about that user.
import { expect, test } from 'vitest'
import { demandStep } from '../../plugins/account/demand.ts'

test.each([
  ['another user', 'bob', ['pwd', 'mfa'], true],
  ['the user without a factor', 'alice', ['pwd'], true],
  ['the user with a factor', 'alice', ['pwd', 'mfa'], false],
])('a demand for a factor is met by the session of %s: not if %s, %j', async (_, sub, amr, isAsked) => {
  const step = demandStep({
    requireSecondFactor: true,
    secondFactorAcrValues: [],
    secondFactors: { state: async () => ({ app: false, codes: false }) },
  } as never)
  const interaction = {
    request: { client: { clientId: 'web' }, acrValues: [], claims: { identityToken: [] } },
    session: { subject: { sub, amr, authTime: 0 } },
    kit: { endpointUrl: () => 'https://id.example.com/connect/account' },
    suspend: async () => ({ id: 'i' }),
  }
  expect((await step(interaction as never, 'alice')) !== undefined).toBe(isAsked)
})

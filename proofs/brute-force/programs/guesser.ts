// One of several processes that guess concurrently, each at its own providers on one Redis behind a slow network.
// Prints the results.

import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { type RedisDriver, redisDriver } from '@grantry/storage-drivers/redis'
import { createTestProvider } from '@grantry/testing'
import { withLatency } from '../../../test/support/latency.ts'
import { pause } from '../../../test/support/pause.ts'
import { print, starting } from '../../../test/support/start-concurrently.ts'
import type { GuesserOrder, GuesserReport, GuessesReport } from '../guessers.ts'

const order = JSON.parse(process.argv[2] ?? '') as GuesserOrder

interface Kind {
  readonly grantType: 'password' | 'client_credentials'
  readonly users: 'one' | 'many'
  readonly addresses: 'one' | 'many'
}

const kinds: Readonly<Record<keyof GuesserReport, Kind>> = {
  oneAddress: { grantType: 'password', users: 'one', addresses: 'one' },
  manyAddresses: { grantType: 'password', users: 'one', addresses: 'many' },
  manyUsers: { grantType: 'password', users: 'many', addresses: 'one' },
  manyUsersAndAddresses: { grantType: 'password', users: 'many', addresses: 'many' },
  secret: { grantType: 'client_credentials', users: 'one', addresses: 'one' },
}

async function guesser(driver: RedisDriver, { grantType, users, addresses }: Kind) {
  let judged = 0
  await driver.open()
  const { post } = await createTestProvider({
    plugins: [password(), clientCredentials()],
    storage: withLatency(driver),
    abuseControl: true,
    // All processes have the same fixed time: no delay ends because the machine is slow.
    runtime: { now: () => order.now },
    users: {
      async authenticate() {
        judged += 1
        await pause(20)
        return undefined
      },
    },
  })
  return async (): Promise<GuessesReport> => {
    const statuses = await Promise.all(
      Array.from({ length: order.guesses }, async (_, index) => {
        const from = addresses === 'many' ? `203.0.${order.process}.${index}` : '203.0.113.1'
        const username = users === 'many' ? `user ${order.process}.${index}` : 'alice'
        const form = { grant_type: grantType, username, password: `guess ${index}`, scope: 'api1' }
        const secret = grantType === 'password' ? 'test-client-secret' : `guess ${index}`
        return (await post('token', form, ['test-client', secret], from)).status
      }),
    )
    return { judged, statuses }
  }
}

const guessers = await Promise.all(
  Object.entries(kinds).map(async ([name, kind]) => {
    const driver = redisDriver({ url: order.url, prefix: name })
    return { name, driver, guess: await guesser(driver, kind) }
  }),
)
await starting()
const reports: Record<string, GuessesReport> = {}
// One kind after the other: a machine that is busy with all of them would keep attempts of one user waiting for too
// long.
for (const { name, guess } of guessers) reports[name] = await guess()
print(JSON.stringify(reports))
await Promise.all(guessers.map(({ driver }) => driver.dispose()))

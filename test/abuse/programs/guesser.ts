// One of several processes that guess at the same moment, each at providers of its own on one Redis behind a slow network. Prints what came of it.
import { createTestProvider } from '@grantry/core/testing'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { type RedisDriver, redisDriver } from '@grantry/storage-drivers/redis'
import { print, starting } from '../../storage/programs/filesystem-process.ts'
import { withLatency } from '../../support/latency.ts'
import type { GuesserOrder, GuesserReport, GuessesReport } from '../guessers.ts'

const order = JSON.parse(process.argv[2] ?? '') as GuesserOrder

async function guesser(driver: RedisDriver, grantType: string, spread: boolean): Promise<() => Promise<GuessesReport>> {
  let judged = 0
  await driver.open()
  const { post } = await createTestProvider({
    plugins: [password(), clientCredentials()],
    storage: withLatency(driver),
    abuseControl: true,
    // All processes have one time, which stands still: no delay ends because the machine is slow.
    runtime: { now: () => order.now },
    users: {
      async authenticate() {
        judged += 1
        await new Promise((resolve) => setTimeout(resolve, 20))
        return undefined
      },
    },
  })
  return async () => {
    const statuses = await Promise.all(
      Array.from({ length: order.guesses }, async (_, index) => {
        const from = spread ? `203.0.${order.process}.${index}` : '203.0.113.1'
        const form = { grant_type: grantType, username: 'alice', password: `guess ${index}`, scope: 'api1' }
        const secret = grantType === 'password' ? 'test-client-secret' : `guess ${index}`
        return (await post('token', form, ['test-client', secret], from)).status
      }),
    )
    return { judged, statuses }
  }
}

const drivers = ['one', 'many', 'secret'].map((prefix) => redisDriver({ url: order.url, prefix })) as [
  RedisDriver,
  RedisDriver,
  RedisDriver,
]
const guessers = await Promise.all([
  guesser(drivers[0], 'password', false),
  guesser(drivers[1], 'password', true),
  guesser(drivers[2], 'client_credentials', false),
])
await starting()
const [oneAddress, manyAddresses, secret] = await Promise.all(guessers.map((guess) => guess()))
print(JSON.stringify({ oneAddress, manyAddresses, secret } as GuesserReport))
await Promise.all(drivers.map((driver) => driver.dispose()))

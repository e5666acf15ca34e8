// One of several processes that guess at the same moment, each at a provider of its own on one Redis behind a slow network. Prints what came of it.
import { createTestProvider } from '@grantry/core/testing'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { print, starting } from '../../storage/programs/filesystem-process.ts'
import { withLatency } from '../../support/latency.ts'
import type { GuesserOrder, GuesserReport } from '../guessers.ts'

const order = JSON.parse(process.argv[2] ?? '') as GuesserOrder
const driver = redisDriver({ url: order.url, prefix: order.prefix })
await driver.open()
let judged = 0
const { post } = await createTestProvider({
  plugins: [password(), clientCredentials()],
  storage: withLatency(driver),
  abuseControl: true,
  // All processes have one time, which stands still: no delay ends because the machine is slow.
  runtime: { now: () => order.now },
  users: {
    async authenticate({ password }) {
      judged += 1
      await new Promise((resolve) => setTimeout(resolve, 20))
      return password === 'right' ? { sub: '1' } : undefined
    },
  },
})
await starting()
const statuses = await Promise.all(
  Array.from({ length: order.guesses }, async (_, index) => {
    const from = order.spread ? `203.0.${order.process}.${index}` : '203.0.113.1'
    const form = { grant_type: order.grant, username: 'alice', password: `guess ${index}`, scope: 'api1' }
    const secret = order.grant === 'password' ? 'test-client-secret' : `guess ${index}`
    return (await post('token', form, ['test-client', secret], from)).status
  }),
)
print(JSON.stringify({ judged, statuses } satisfies GuesserReport))
await driver.dispose()

// `npm run prove:brute-force -- [seconds] [processes]`: the run of brute-force.test.ts, longer.
import { startRedis } from '../../test/support/redis-server.ts'
import { bruteForce, bruteForceReport, serverProgram } from './brute-force.ts'

const [, , seconds = '60', processes = '4'] = process.argv
const redis = await startRedis()
try {
  const program = await serverProgram()
  process.stdout.write(
    `${bruteForceReport(await bruteForce(program, redis.url, Number(processes), Number(seconds)))}\n`,
  )
} finally {
  await redis.stop()
}

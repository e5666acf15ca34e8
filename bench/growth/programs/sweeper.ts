// A process with a driver that does nothing but remove expired rows.
import { type PostgresqlDriver, postgresqlDriver, type SweepState } from '@grantry/storage-drivers/postgresql'
import { takeOrders } from '../../../test/support/ordered-process.ts'
import type { SweeperOrder, SweeperPlace } from '../sweepers.ts'

const place = JSON.parse(process.argv[2] ?? '') as SweeperPlace
const nothing: SweepState = { removed: 0, age: 0, isBehind: false }

let driver: PostgresqlDriver | undefined
let removedBefore = 0

async function carryOut(order: SweeperOrder): Promise<SweepState> {
  if (order === 'sweep') {
    driver = postgresqlDriver(place)
    await driver.open()
  }
  const { removed, ...state } = driver?.sweepState() ?? nothing
  const sum = { ...state, removed: removed + removedBefore }
  if (order === 'rest') {
    await driver?.dispose()
    driver = undefined
    removedBefore = sum.removed
  }
  return sum
}

takeOrders<SweeperOrder>(carryOut)

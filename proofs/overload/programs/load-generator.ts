import { endWithParent } from '../../../test/support/programs/end-with-parent.ts'
import { type LoadOrder, load } from '../load.ts'

endWithParent()
process.once('message', async (order: LoadOrder) => {
  const report = await load(order)
  // The process exits with its IPC channel, which the parent closes after the report.
  process.send?.(report)
})

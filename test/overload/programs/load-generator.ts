import { endWithParent } from '../../torture/programs/end-with-parent.ts'
import { type LoadOrder, load } from '../load.ts'

endWithParent()
process.once('message', async (order: LoadOrder) => {
  const report = await load(order)
  // It ends with the channel, which the parent closes when it has the report.
  process.send?.(report)
})

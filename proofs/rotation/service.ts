import { bundleWithPackages } from '../../test/support/bundle-with-packages.ts'
import { startOrderedProcesses } from '../../test/support/ordered-process.ts'
import type { Answers, Order, Setting } from './orders.ts'

/** One process of the service. */
export interface Server {
  order<O extends Order>(order: O): Promise<Answers[O['what']]>
  stop(): Promise<void>
}

/** Starts them at the same moment: they also create the first keys together. */
export async function startService(setting: Setting, count: number): Promise<readonly Server[]> {
  const program = await bundleWithPackages(new URL('./programs/rotating-server.ts', import.meta.url))
  return (await startOrderedProcesses<Order>(program, setting, count)) as readonly Server[]
}

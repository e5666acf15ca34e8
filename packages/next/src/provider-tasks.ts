import { type SharedProvider, withLease } from './shared-provider.ts'

/** Seconds between two runs, as in the ready server. */
const interval = 5

/** Whether the process serves requests. `next build` loads the module, and the edge runtime has no timer. */
const isServer = (): boolean =>
  process.env.NEXT_RUNTIME !== 'edge' && process.env.NEXT_PHASE !== 'phase-production-build'

export function startTasks(shared: SharedProvider): void {
  if (shared.timer !== undefined || !isServer()) return
  let reported = ''
  async function run(): Promise<void> {
    try {
      await withLease(shared, async ({ provider }) => (await provider).runTasks())
      reported = ''
    } catch (error) {
      // The storage can be away for hours.
      if (String(error) !== reported) console.error('The provider does not open:', error)
      reported = String(error)
    }
  }
  const timer = setInterval(() => void run(), interval * 1000)
  timer.unref()
  shared.timer = timer
  void run()
}

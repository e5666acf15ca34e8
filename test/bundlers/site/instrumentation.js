export async function register() {
  // Next.js also bundles this file for the edge runtime, which has no files.
  if (process.env.NEXT_RUNTIME === 'nodejs') (await import('./grantry.js')).grantry.startTasks()
}

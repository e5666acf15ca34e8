/** Work that no request waits for, such as mails that are sent again. Next.js also loads this file for the edge runtime. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') (await import('./handlers.ts')).grantry.startTasks()
}

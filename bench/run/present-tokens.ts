import { type OperationName, presentation, presentsIssued, proves } from '../operations.ts'
import { usernames } from '../users.ts'
import type { ServerProcess } from './server-process.ts'

/** Returns the tokens that an operation presents to a server. */
export async function tokensFor(
  server: ServerProcess,
  operation: OperationName,
  count: number,
): Promise<readonly string[]> {
  if (presentation(operation) === 'in turn') return usernames
  return presentsIssued(operation) || proves(operation) ? server.issue(operation, count) : []
}

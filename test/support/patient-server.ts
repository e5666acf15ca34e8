import type { LoadedConfiguration } from '../../packages/server/src/configuration/load.ts'
import { type GrantryServer, type StartOptions, startServer as start } from '../../packages/server/src/server.ts'

// A busy machine is no outage: one with 20 processes for each core needs seconds for the hash of a password.
const patient = (loaded: LoadedConfiguration): LoadedConfiguration => ({
  ...loaded,
  configuration: { hostTimeLimit: 60, storageTimeLimit: 60, ...loaded.configuration },
})

/** Starts the server in this process, with the longest time limits unless its configuration sets some. */
export const startServer = ({ loaded, read, ...more }: StartOptions): Promise<GrantryServer> =>
  start({
    ...more,
    ...(loaded && { loaded: patient(loaded) }),
    ...(read && { read: async () => patient(await read()) }),
  })

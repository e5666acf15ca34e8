/** The address on which a server listens, from its log; `undefined` until it does. */
export const listeningAddress = (log: string): string | undefined => /listening on (\S+:\d+) for /u.exec(log)?.[1]

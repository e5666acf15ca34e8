/** The address on which a server listens, as its log says; `undefined` until it does. */
export const listeningAddress = (log: string): string | undefined => /listening on (\S+:\d+) for /u.exec(log)?.[1]

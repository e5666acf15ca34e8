/** A fault of a driver in the controls. */
export type Fault =
  | 'forgets what is spent'
  | 'inserts in two steps'
  | 'loses revocations'
  | 'answers before it has written'
  | 'cuts records'

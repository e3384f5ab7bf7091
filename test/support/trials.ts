/** What a generated test tries: few cases in `npm test`, as many as a promise asks for in `npm run test:long`. */
export const trials = <T>(usual: T, long: T): T => (process.env["LONG"] ? long : usual);

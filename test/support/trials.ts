/** How many trials a generated test runs: few in `npm test`, as many as a promise asks for in `npm run test:long`. */
export const trials = (usual: number, long: number): number => (process.env["LONG"] ? long : usual);

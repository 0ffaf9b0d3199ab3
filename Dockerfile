# Image of Gatehouse, built in one stage and run in another by a user who owns only the data.
# docs/operating.md describes its use and what was tested.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY bin bin
COPY tools tools
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
# NODE_OPTIONS: the flags of bin/node-flags.js. The command otherwise starts Node.js a second time to
# set them.
ENV NODE_ENV=production \
    NODE_OPTIONS="--max-semi-space-size=8 --disable-warning=ExperimentalWarning --disable-sigusr1" \
    GATEHOUSE_DATA=/data \
    GATEHOUSE_ENDPOINTS=tcp://0.0.0.0:8529
WORKDIR /app
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY bin bin
RUN ln -s /app/bin/gatehouse.js /usr/local/bin/gatehouse \
    && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8529
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["gatehouse", "health"]
ENTRYPOINT ["gatehouse"]
CMD ["start"]

// SPDX-License-Identifier: Apache-2.0
// siw_peer: a verbs program on siw that does, over one connection, what its command line says, and prints what happens.
//
//   siw_peer listen PORT [OPTIONS] [OP...]           prints "listening", takes one connection
//   siw_peer connect ADDRESS PORT [OPTIONS] [OP...]
//
//   -d TEXT  text of our private data      -I N -O N  IRD and ORD (default: what the peer asks for; 4 as client)
//   -r       listen: reject                -R N -L N  post N receives of N octets (default 16 of 65536)
//
// Operations, one after the other; each waits for its completion. LEN octets come from the start of our buffer.
//   send=LEN send-se=LEN send-inv=LEN send-se-inv=LEN   the last two invalidate the peer's STag
//   write=LEN[,OFFSET] read=LEN[,OFFSET]                at OFFSET of the peer's buffer; reads go to our second half
//   bad-write=LEN bad-read=LEN bad-send-inv=LEN         with an STag that the peer does not have
//   oob-write=LEN oob-read=LEN                          half of it past the end of the peer's buffer
//   recv              wait for a receive                sum=OFFSET,LEN   print the checksum of our own octets
//   closed            wait until the peer closes        sleep=MS
//
// Private data, both ways: address (8 octets), STag (4) and length (4) of a buffer in network order, then the text. The
// buffer has two halves of 4 MiB: a pattern, and zeros. Checksums are FNV-1a, 64 bits.
// Exit code: 0 all done, 2 usage, 3 no connection, 4 an operation failed, 5 nothing happened for 15 s.
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HALF = 4 << 20, MAX_TEXT = 480, WAIT_MS = 15000 };
enum { RECEIVE_IDS = 1000 };	// wr_ids of receives begin here

struct advert { uint64_t address; uint32_t stag, length; } __attribute__((packed));

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct ibv_cq *cq;
static struct ibv_mr *mr, *receive_mr;
static unsigned char *buffer, *receive_buffer;
static uint32_t receive_count = 16, receive_length = 65536;
static int ird = -1, ord = -1;
static struct advert peer;	// in host order
static bool disconnected, failed;
static int unclaimed_receives, flushed_receives;

#define CHECK(what) do { if (!(what)) { printf("error: %s: %s\n", #what, strerror(errno)); exit(1); } } while (0)

static unsigned char pattern(uint32_t i) { return (unsigned char)(i * 7 + (i >> 8) * 13 + (i >> 16) + 5); }

static uint64_t fnv(const unsigned char *p, uint64_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	while (n--) h = (h ^ *p++) * 0x100000001b3u;
	return h;
}

static void post_receive(uint64_t i)
{
	struct ibv_sge sge = { (uintptr_t)receive_buffer + i * receive_length, receive_length, receive_mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RECEIVE_IDS + i, .sg_list = &sge, .num_sge = 1 }, *bad;
	CHECK(!ibv_post_recv(id->qp, &wr, &bad));
}

static void make_queue_pair(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	CHECK(pd);
	CHECK(buffer = calloc(2, HALF));
	CHECK(receive_buffer = calloc(receive_count + 1, receive_length));
	for (uint32_t i = 0; i < HALF; i++) buffer[i] = pattern(i);
	CHECK(mr = ibv_reg_mr(pd, buffer, 2 * HALF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	CHECK(receive_mr = ibv_reg_mr(pd, receive_buffer, (uint64_t)(receive_count + 1) * receive_length, IBV_ACCESS_LOCAL_WRITE));
	CHECK(cq = ibv_create_cq(id->verbs, 256, NULL, NULL, 0));
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 } };
	CHECK(!rdma_create_qp(id, pd, &attr));
	for (uint32_t i = 0; i < receive_count; i++) post_receive(i);
}

static const void *our_private_data(const char *text, uint8_t *size)
{
	static unsigned char data[sizeof(struct advert) + MAX_TEXT];
	struct advert ours = { htobe64((uintptr_t)buffer), htobe32(mr->rkey), htobe32(2 * HALF) };
	size_t length = strlen(text) < 200 ? strlen(text) : 200;	// the CM's parameter is 8 bits wide
	memcpy(data, &ours, sizeof ours);
	memcpy(data + sizeof ours, text, length);
	*size = (uint8_t)(sizeof ours + length);
	return data;
}

static void learn(const char *what, const struct rdma_conn_param *c)
{
	const char *data = c->private_data;
	int length = c->private_data_len, skip = 0;
	if (length >= (int)sizeof peer) {
		memcpy(&peer, data, skip = sizeof peer);
		peer = (struct advert){ be64toh(peer.address), be32toh(peer.stag), be32toh(peer.length) };
	}
	printf("%s ird=%d ord=%d private=%d text='%.*s'\n", what, c->responder_resources, c->initiator_depth, length, length - skip, data + skip);
}

// Prints one completion; true when it is the one of the operation under way.
static bool print_completion(const struct ibv_wc *wc)
{
	const char *status = ibv_wc_status_str(wc->status);
	if (wc->wr_id >= RECEIVE_IDS && wc->status == IBV_WC_WR_FLUSH_ERR) {	// the fate of unused receives
		flushed_receives++;
		return false;
	}
	if (wc->status) failed = true;
	if (wc->wr_id < RECEIVE_IDS) {
		printf("completed status=%d (%s) length=%u\n", wc->status, status, wc->byte_len);
		return true;
	}
	uint64_t i = wc->wr_id - RECEIVE_IDS;
	uint64_t sum = wc->status ? 0 : fnv(receive_buffer + i * receive_length, wc->byte_len);
	printf("received status=%d (%s) length=%u sum=%016lx\n", wc->status, status, wc->byte_len, (unsigned long)sum);
	if (!wc->status) { unclaimed_receives++; post_receive(i); }
	return false;
}

static void take_cm_event(void)
{
	struct rdma_cm_event *e;
	CHECK(!rdma_get_cm_event(channel, &e));
	printf("event %s status=%d\n", rdma_event_str(e->event), e->status);
	if (e->event == RDMA_CM_EVENT_DISCONNECTED) disconnected = true;
	rdma_ack_cm_event(e);
}

// Drives completions and events until `what` has happened; exits after WAIT_MS of nothing.
enum what { COMPLETION, RECEIVE, CLOSE };
static void wait_for(enum what what)
{
	for (int ms = 0; ms < WAIT_MS; ms++) {
		struct ibv_wc wc;
		bool ours = false, over = disconnected;	// asked before polling: what came before the end still counts
		while (ibv_poll_cq(cq, 1, &wc) > 0) ours |= print_completion(&wc);
		if (what == COMPLETION && ours) return;
		if (what == RECEIVE && unclaimed_receives > 0) { unclaimed_receives--; return; }
		if (what == CLOSE && over) return;
		if (what == RECEIVE && over) { failed = true; return; }
		struct pollfd p = { channel->fd, POLLIN, 0 };
		if (poll(&p, 1, 1) == 1) take_cm_event();
	}
	printf("timeout\n");
	exit(5);
}

static bool is(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static void post(const char *name, uint32_t length, uint64_t offset)
{
	bool invalidate = strstr(name, "-inv"), bad = is(name, "bad-");
	const char *verb = bad || is(name, "oob-") ? name + 4 : name;
	struct ibv_sge sge = { (uintptr_t)buffer, length, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *refused;
	wr.wr.rdma.remote_addr = is(name, "oob-") ? peer.address + peer.length - length / 2 : peer.address + offset;
	wr.wr.rdma.rkey = bad ? peer.stag ^ 0x00abcd00 : peer.stag;
	wr.invalidate_rkey = wr.wr.rdma.rkey;	// libsiw takes the STag to invalidate from wr.rdma.rkey
	wr.opcode = is(verb, "write") ? IBV_WR_RDMA_WRITE : is(verb, "read") ? IBV_WR_RDMA_READ : invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
	if (is(verb, "send-se")) wr.send_flags = IBV_SEND_SOLICITED;
	if (wr.opcode == IBV_WR_RDMA_READ) sge.addr += HALF;
	if (length == 0) wr.num_sge = 0;
	CHECK(!ibv_post_send(id->qp, &wr, &refused));
	wait_for(COMPLETION);
}

static void perform(char *operation)
{
	char *argument = strchr(operation, '=');
	uint64_t first = 0, second = 0;
	if (argument) {
		*argument++ = 0;
		first = strtoull(argument, &argument, 0);
		if (*argument == ',') second = strtoull(argument + 1, NULL, 0);
	}
	printf("do %s\n", operation);
	if (!strcmp(operation, "recv")) wait_for(RECEIVE);
	else if (!strcmp(operation, "closed")) wait_for(CLOSE);
	else if (!strcmp(operation, "sleep")) usleep((useconds_t)first * 1000);
	else if (!strcmp(operation, "sum")) printf("sum=%016lx\n", (unsigned long)fnv(buffer + first, second));
	else post(operation, (uint32_t)first, second);
}

static struct rdma_cm_event *expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;
	CHECK(!rdma_get_cm_event(channel, &e));
	if (e->event == type) return e;
	printf("event %s status=%d\n", rdma_event_str(e->event), e->status);
	if (e->event == RDMA_CM_EVENT_REJECTED) learn("rejected", &e->param.conn);
	exit(3);
}

static void accept_one(int port, const char *text, bool reject)
{
	struct rdma_cm_id *listener;
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	CHECK(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(listener, (struct sockaddr *)&any));
	CHECK(!rdma_listen(listener, 4));
	printf("listening\n");
	struct rdma_cm_event *e = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = e->id;
	learn("request", &e->param.conn);
	if (reject) {
		CHECK(!rdma_reject(id, text, (uint8_t)strlen(text)));
		exit(0);
	}
	make_queue_pair();
	struct rdma_conn_param c = { 0 };	// revision 1 carries no IRD and ORD: they appear as 0
	c.responder_resources = (uint8_t)(ird >= 0 ? ird : e->param.conn.responder_resources ?: 4);
	c.initiator_depth = (uint8_t)(ord >= 0 ? ord : e->param.conn.initiator_depth ?: 4);
	c.private_data = our_private_data(text, &c.private_data_len);
	CHECK(!rdma_accept(id, &c));
	rdma_ack_cm_event(e);
	e = expect(RDMA_CM_EVENT_ESTABLISHED);
	printf("established\n");
	rdma_ack_cm_event(e);
}

static void connect_to(const char *address, int port, const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	CHECK(inet_pton(AF_INET, address, &to.sin_addr) == 1);
	CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000));
	rdma_ack_cm_event(expect(RDMA_CM_EVENT_ADDR_RESOLVED));
	CHECK(!rdma_resolve_route(id, 2000));
	rdma_ack_cm_event(expect(RDMA_CM_EVENT_ROUTE_RESOLVED));
	make_queue_pair();
	struct rdma_conn_param c = { .responder_resources = (uint8_t)(ird >= 0 ? ird : 4), .initiator_depth = (uint8_t)(ord >= 0 ? ord : 4) };
	c.private_data = our_private_data(text, &c.private_data_len);
	CHECK(!rdma_connect(id, &c));
	struct rdma_cm_event *e = expect(RDMA_CM_EVENT_ESTABLISHED);
	learn("established", &e->param.conn);
	rdma_ack_cm_event(e);
}

static void print_async_events(void)
{
	struct ibv_async_event event;
	fcntl(id->verbs->async_fd, F_SETFL, O_NONBLOCK);
	while (ibv_get_async_event(id->verbs, &event) == 0) {
		printf("async %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: siw_peer listen PORT | connect ADDRESS PORT  [-d TEXT] [-I N] [-O N] [-r] [-R N] [-L N] [OP...]\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *text = "";
	bool server = argc > 2 && !strcmp(argv[1], "listen"), reject = false;
	int used = server ? 3 : 4, option;
	if (argc < used || (!server && strcmp(argv[1], "connect"))) return usage();
	optind = used;
	while ((option = getopt(argc, argv, "+d:I:O:rR:L:")) != -1) switch (option) {
		case 'd': text = optarg; break;
		case 'I': ird = atoi(optarg); break;
		case 'O': ord = atoi(optarg); break;
		case 'r': reject = true; break;
		case 'R': receive_count = (uint32_t)atoi(optarg); break;
		case 'L': receive_length = (uint32_t)atoi(optarg); break;
		default: return usage();
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(channel = rdma_create_event_channel());
	if (server) accept_one(atoi(argv[2]), text, reject);
	else connect_to(argv[2], atoi(argv[3]), text);

	for (; optind < argc && !failed; optind++) perform(argv[optind]);
	if (failed && !disconnected) {	// let a Terminate, on its way in or out, arrive
		struct pollfd p = { channel->fd, POLLIN, 0 };
		if (poll(&p, 1, 500) == 1) take_cm_event();
	}
	if (flushed_receives) printf("flushed receives=%d\n", flushed_receives);
	print_async_events();
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	return failed ? 4 : 0;
}
